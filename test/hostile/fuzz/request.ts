/** A request before it is serialized. */
export interface Request {
  method: string
  target: string
  version: string
  headers: Header[]
  body: Buffer
  /** Chunk sizes, used in rotation. Without them the body is sent with a Content-Length. */
  chunks?: number[]
}

export type Header = readonly [name: string, value: string]

export function bytesOf(request: Request): Buffer {
  const { method, target, version, body, chunks } = request
  const headers: Header[] = [...request.headers]
  if (chunks !== undefined) headers.push(['Transfer-Encoding', 'chunked'])
  else if (body.length > 0) headers.push(['Content-Length', String(body.length)])
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const head = Buffer.from(`${method} ${target} ${version}\r\n${lines}\r\n`, 'latin1')
  return Buffer.concat([head, chunks === undefined ? body : chunked(body, chunks)])
}

/** RFC 9112 §7.1. */
export function chunked(body: Buffer, sizes: readonly number[]): Buffer {
  const parts: Buffer[] = []
  let from = 0
  for (let index = 0; from < body.length; index++) {
    const part = body.subarray(from, from + (sizes[index % sizes.length] ?? body.length))
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'))
    from += part.length
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')])
}

/** Replaces all headers of that name. */
export function setHeader(request: Request, name: string, value: string): void {
  removeHeader(request, name)
  request.headers.push([name, value])
}

export function removeHeader(request: Request, name: string): void {
  request.headers = request.headers.filter(([each]) => each.toLowerCase() !== name.toLowerCase())
}
