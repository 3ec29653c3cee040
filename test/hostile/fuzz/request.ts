/** A request before it is serialized. Each character stands for a byte (latin1). */
export interface Request {
  method: string
  target: string
  version: string
  headers: Header[]
  body: string
  /** Chunk sizes, used in rotation. Without them the body is sent with a Content-Length. */
  chunks?: number[]
}

export type Header = readonly [name: string, value: string]

/** One header for each value. */
export function headersOf(values: Readonly<Record<string, readonly string[]>>): Header[] {
  return Object.entries(values).flatMap(([name, list]) =>
    list.map((value): Header => [name, value]),
  )
}

/** The bytes of a request, each one character. */
export function serialize({ method, target, version, headers, body, chunks }: Request): string {
  const framing: Header[] =
    chunks !== undefined
      ? [['Transfer-Encoding', 'chunked']]
      : body.length > 0
        ? [['Content-Length', String(body.length)]]
        : []
  const lines = [...headers, ...framing].map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const content = chunks === undefined ? body : chunked(body, chunks)
  return `${method} ${target} ${version}\r\n${lines}\r\n${content}`
}

/** RFC 9112 §7.1. */
export function chunked(body: string, sizes: readonly number[]): string {
  let whole = ''
  for (let from = 0, index = 0; from < body.length; index++) {
    const chunk = body.slice(from, from + (sizes[index % sizes.length] as number))
    whole += `${chunk.length.toString(16)}\r\n${chunk}\r\n`
    from += chunk.length
  }
  return `${whole}0\r\n\r\n`
}

/** Replaces all headers of that name. */
export function setHeader(request: Request, name: string, value: string): void {
  removeHeader(request, name)
  request.headers.push([name, value])
}

export function removeHeader(request: Request, name: string): void {
  request.headers = request.headers.filter(([each]) => each.toLowerCase() !== name.toLowerCase())
}
