/** A strict parser of HTTP responses. */

export interface Response {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** Status line and headers as received. */
  readonly head: string
}

type Head = Omit<Response, 'body'>

const STATUS_LINE = /^HTTP\/1\.1 ([1-5]\d\d) [\x20-\x7e]*$/
const HEADER_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): ?([\x20-\x7e\x80-\xff]*)$/

const EMPTY = Buffer.alloc(0)
const NEXT = Buffer.from('HTTP/1.')

/** Statuses that never have content (RFC 9112 §6.3). */
const CONTENTLESS = [204, 304]

/**
 * Parses HTTP/1.1 responses incrementally. Every response must have a `Content-Length` or no content, except an event
 * stream, which lasts until the connection ends and whose events are ignored. A response to HEAD is recognized by what
 * follows its head: the next response, or the end of the connection.
 */
export class ResponseReader {
  readonly #onResponse: (response: Response) => void
  #bytes: Buffer = EMPTY
  #head: Head | undefined
  #isStream = false

  constructor(onResponse: (response: Response) => void) {
    this.#onResponse = onResponse
  }

  /** @throws Error if the bytes are not HTTP */
  push(chunk: Buffer): void {
    if (this.#isStream) return
    this.#bytes = Buffer.concat([this.#bytes, chunk])
    this.#read(false)
  }

  /**
   * Tells the parser that the connection has ended.
   *
   * @returns false if the last response is incomplete
   * @throws Error if the bytes are not HTTP
   */
  end(): boolean {
    this.#read(true)
    return this.#bytes.length === 0 && this.#head === undefined
  }

  #read(isEnd: boolean): void {
    for (;;) {
      this.#head ??= this.#takeHead()
      if (this.#head === undefined) return
      const length = contentLength(this.#head)
      const start = this.#bytes.subarray(0, NEXT.length)
      const looksLikeNext = start.equals(NEXT.subarray(0, start.length))
      const isContentless = looksLikeNext && (isEnd || start.length === NEXT.length)
      const taken = isContentless ? 0 : length
      const isUndecided = looksLikeNext && !isContentless && length > 0
      if (isUndecided || this.#bytes.length < taken) return
      const body = this.#bytes.subarray(0, taken)
      this.#bytes = this.#bytes.subarray(taken)
      const head = this.#head
      this.#head = undefined
      if (head.status >= 200) this.#onResponse({ ...head, body })
    }
  }

  #takeHead(): Head | undefined {
    const end = this.#bytes.indexOf('\r\n\r\n')
    if (end < 0) return undefined
    const head = headOf(this.#bytes.toString('latin1', 0, end))
    this.#isStream = isStream(head)
    this.#bytes = this.#isStream ? EMPTY : this.#bytes.subarray(end + 4)
    return head
  }
}

function headOf(text: string): Head {
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

function contentLength({ status, headers }: Head): number {
  if (status < 200 || CONTENTLESS.includes(status)) return 0
  // Optional in a response to HEAD (RFC 9110 §8.6). In any other, the body is then reported as an invalid status line.
  const { 'content-length': length = '0' } = headers
  if (!/^\d+$/.test(length)) throw new Error(`${status} has the content length ${length}`)
  return Number(length)
}
