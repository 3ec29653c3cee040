/** A strict parser of HTTP responses. */

export interface Response {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** Status line and headers as received. */
  readonly head: string
}

const STATUS_LINE = /^HTTP\/1\.1 ([1-5]\d\d) [\x20-\x7e]*$/
const HEADER_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): ?([\x20-\x7e\x80-\xff]*)$/

const EMPTY = Buffer.alloc(0)
const NEXT = Buffer.from('HTTP/1.')

/** Statuses that never have content (RFC 9112 §6.3). */
const CONTENTLESS = [204, 304]

/**
 * Parses HTTP/1.1 responses incrementally. Every response must have a `Content-Length` or no content, except an event
 * stream, which lasts until the connection ends and whose events are ignored. A response to HEAD is recognized by what follows its head: the next response, or the end of the connection.
 */
export class ResponseReader {
  readonly #onResponse: (response: Response) => void
  #chunks: Buffer[] = []
  #size = 0
  /** Bytes needed to make progress. */
  #needed = 1
  #head: Omit<Response, 'body'> | undefined
  #isStream = false

  constructor(onResponse: (response: Response) => void) {
    this.#onResponse = onResponse
  }

  /** @throws Error if the bytes are not HTTP */
  push(chunk: Buffer): void {
    if (this.#isStream) return
    this.#chunks.push(chunk)
    this.#size += chunk.length
    if (this.#size >= this.#needed) this.#read(false)
  }

  /**
   * Tells the parser that the connection has ended.
   *
   * @returns false if the last response is incomplete
   * @throws Error if the bytes are not HTTP
   */
  end(): boolean {
    this.#read(true)
    return this.#size === 0 && this.#head === undefined
  }

  #read(isEnd: boolean): void {
    let bytes =
      this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks)
    for (;;) {
      if (this.#head === undefined) {
        const end = bytes.indexOf('\r\n\r\n')
        this.#needed = bytes.length + 1
        if (end < 0) break
        this.#head = headOf(bytes.toString('latin1', 0, end))
        bytes = bytes.subarray(end + 4)
        this.#isStream = isStream(this.#head)
        if (this.#isStream) bytes = EMPTY
      }
      const length = contentLength(this.#head)
      const start = bytes.subarray(0, NEXT.length)
      const looksLikeNext = start.equals(NEXT.subarray(0, start.length))
      this.#needed = start.length < NEXT.length && looksLikeNext ? NEXT.length : length
      const isContentless = length > 0 && (isEnd ? looksLikeNext : start.equals(NEXT))
      const taken = isContentless ? 0 : length
      if (bytes.length < taken || (!isEnd && length > 0 && bytes.length < this.#needed)) break
      const body = taken === 0 ? EMPTY : bytes.subarray(0, taken)
      if (this.#head.status >= 200) this.#onResponse({ ...this.#head, body })
      this.#head = undefined
      bytes = bytes.subarray(taken)
    }
    this.#chunks = [bytes]
    this.#size = bytes.length
  }
}

function headOf(text: string): Omit<Response, 'body'> {
  const [first = '', ...lines] = text.split('\r\n')
  const status = Number(STATUS_LINE.exec(first)?.[1])
  if (Number.isNaN(status)) throw new Error(`not a status line: ${JSON.stringify(first)}`)
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const [, name, value] = HEADER_LINE.exec(line) ?? []
    if (name === undefined) throw new Error(`not a header: ${JSON.stringify(line)}`)
    headers[name.toLowerCase()] = value as string
  }
  return { status, headers, head: text }
}

/** A stream is the last response of its connection. */
export function isStream({ headers }: Pick<Response, 'headers'>): boolean {
  return headers['content-type'] === 'text/event-stream' && headers.connection === 'close'
}

function contentLength({ status, headers }: Omit<Response, 'body'>): number {
  if (status < 200 || CONTENTLESS.includes(status)) return 0
  const { 'content-length': length } = headers
  // Optional in a response to HEAD (RFC 9110 §8.6). In any other, the body is then reported as an invalid status line.
  if (length === undefined) return 0
  if (!/^\d+$/.test(length)) {
    throw new Error(`${status} has the content length ${length}`)
  }
  return Number(length)
}
