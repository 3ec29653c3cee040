import { ExportProblem } from '../record-formats.ts'
import { DEFLATED, DIRECTORY_END, DIRECTORY_HEADER, LOCAL_HEADER } from './zip-format.ts'

/** The largest size in a ZIP archive without extensions. */
const SIZE_MAX = 2 ** 32 - 1

const VERSION = 20

/** The checksum and the sizes of a file follow it. */
const HAS_DESCRIPTOR = 8

/** 1 January 1980, so that equal contents make equal archives. */
const DATE = 0x21

/** Those of gzip without options (RFC 1952 §2.3). */
const HEADER_SIZE = 10
const TRAILER_SIZE = 8

export interface ZipFile {
  /** ASCII. */
  readonly path: string
  readonly content: AsyncIterable<string> | Iterable<string>
}

/** The checksum and the sizes of a file. */
interface Sums {
  readonly crc: number
  readonly packedSize: number
  readonly size: number
}

/**
 * Writes a ZIP archive.
 *
 * @throws ExportProblem if it would be larger than its format allows, and what the contents throw
 */
export async function* writeZip(
  files: readonly ZipFile[],
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  const directory: Uint8Array[] = []
  let start = 0
  for (const { path, content } of files) {
    const name = new TextEncoder().encode(path)
    const fields = ({ crc, packedSize, size }: Sums) =>
      numbers(
        [2, VERSION],
        [2, HAS_DESCRIPTOR],
        [2, DEFLATED],
        [2, 0],
        [2, DATE],
        [4, crc],
        [4, packedSize],
        [4, size],
        [2, name.length],
        [2, 0],
      )
    const header = join(
      numbers([4, LOCAL_HEADER]),
      fields({ crc: 0, packedSize: 0, size: 0 }),
      name,
    )
    yield header
    const sums = yield* compress(content)
    const { crc, packedSize, size } = sums
    const descriptor = numbers([4, 0x08074b50], [4, crc], [4, packedSize], [4, size])
    yield descriptor
    directory.push(
      numbers([4, DIRECTORY_HEADER], [2, VERSION]),
      fields(sums),
      numbers([2, 0], [2, 0], [2, 0], [4, 0], [4, start]),
      name,
    )
    start += header.length + packedSize + descriptor.length
    if (start > SIZE_MAX) throw tooLarge()
  }
  const list = join(...directory)
  const { length } = files
  yield list
  yield numbers(
    [4, DIRECTORY_END],
    [4, 0],
    [2, length],
    [2, length],
    [4, list.length],
    [4, start],
    [2, 0],
  )
}

/** Compresses text. The trailer of gzip has the checksum that ZIP needs. */
async function* compress(
  content: ZipFile['content'],
): AsyncGenerator<Uint8Array<ArrayBuffer>, Sums> {
  const { readable, writable } = new CompressionStream('gzip')
  const reader = readable.getReader()
  // It never rejects: the stream has the error.
  void writeAll(content, writable.getWriter())
  let packedSize = 0
  let start = HEADER_SIZE
  let rest = new Uint8Array()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      rest = join(rest, value)
      if (rest.length <= start + TRAILER_SIZE) continue
      const part = rest.slice(start, -TRAILER_SIZE)
      yield part
      packedSize += part.length
      rest = rest.slice(-TRAILER_SIZE)
      start = 0
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
  const trailer = new DataView(rest.buffer)
  return { crc: trailer.getUint32(0, true), packedSize, size: trailer.getUint32(4, true) }
}

async function writeAll(
  content: ZipFile['content'],
  writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>,
): Promise<void> {
  const encoder = new TextEncoder()
  let size = 0
  try {
    for await (const text of content) {
      const bytes = encoder.encode(text)
      size += bytes.length
      if (size > SIZE_MAX) throw tooLarge()
      await writer.write(bytes)
    }
    await writer.close()
  } catch (error) {
    await writer.abort(error).catch(() => {})
  }
}

function tooLarge(): ExportProblem {
  return new ExportProblem('a workbook has room for 4 GB; export the plants as CSV or NDJSON')
}

/** Unsigned integers, the least significant byte first. */
function numbers(
  ...fields: readonly (readonly [bytes: 2 | 4, value: number])[]
): Uint8Array<ArrayBuffer> {
  const bytes = fields.flatMap(([count, value]) =>
    Array.from({ length: count }, (_, index) => (value >>> (8 * index)) & 0xff),
  )
  return Uint8Array.from(bytes)
}

function join(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}
