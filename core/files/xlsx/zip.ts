/** Reads ZIP archives, as far as workbooks need them. The platform inflates them, in streams. */

import { DEFLATED, DIRECTORY_END, DIRECTORY_HEADER, LOCAL_HEADER } from './zip-format.ts'

/** A file in an archive. */
export interface ZipEntry {
  readonly method: number
  readonly isEncrypted: boolean
  /** Where its local header starts. */
  readonly start: number
  /** Its compressed size, in bytes. */
  readonly size: number
}

/** A file is not a workbook that can be read. The message is a sentence without its capital letter and period. */
export class InvalidWorkbook extends Error {}

const STORED = 0

const LOCAL_HEADER_SIZE = 30
const DIRECTORY_HEADER_SIZE = 46
const DIRECTORY_END_SIZE = 22
const COMMENT_SIZE_MAX = 2 ** 16 - 1

/** A workbook has some dozens of files. */
const DIRECTORY_SIZE_MAX = 2 ** 20

/** How much is read at once. */
const CHUNK_BYTES = 2 ** 18

/** How much is inflated at once: Chromium keeps all that a part inflates to, which is up to 1,032 times as much. */
const PART_BYTES = 2 ** 13

/**
 * Reads the directory of an archive. Names are in lower case, because those in workbooks have no case.
 *
 * @throws InvalidWorkbook
 */
export async function readZipDirectory(file: Blob): Promise<ReadonlyMap<string, ZipEntry>> {
  const tail = await view(file.slice(-(DIRECTORY_END_SIZE + COMMENT_SIZE_MAX)))
  let end = tail.byteLength - DIRECTORY_END_SIZE
  while (end >= 0 && tail.getUint32(end, true) !== DIRECTORY_END) end--
  if (end < 0) throw new InvalidWorkbook('the workbook is damaged or cut off')
  const size = tail.getUint32(end + 12, true)
  const start = tail.getUint32(end + 16, true)
  if (size > DIRECTORY_SIZE_MAX)
    throw new InvalidWorkbook('the workbook consists of too many files')
  const directory = await view(file.slice(start, start + size))
  const entries = new Map<string, ZipEntry>()
  const decoder = new TextDecoder()
  for (let at = 0; at + DIRECTORY_HEADER_SIZE <= directory.byteLength; ) {
    if (directory.getUint32(at, true) !== DIRECTORY_HEADER) break
    const nameSize = directory.getUint16(at + 28, true)
    const next =
      at +
      DIRECTORY_HEADER_SIZE +
      nameSize +
      directory.getUint16(at + 30, true) +
      directory.getUint16(at + 32, true)
    if (next > directory.byteLength) break
    const name = new Uint8Array(directory.buffer, at + DIRECTORY_HEADER_SIZE, nameSize)
    entries.set(decoder.decode(name).toLowerCase(), {
      isEncrypted: (directory.getUint16(at + 8, true) & 1) === 1,
      method: directory.getUint16(at + 10, true),
      size: directory.getUint32(at + 20, true),
      start: directory.getUint32(at + 42, true),
    })
    at = next
  }
  return entries
}

/**
 * Inflates a file of an archive.
 *
 * @param onRead called with the number of compressed bytes of each part
 * @throws InvalidWorkbook
 */
export async function* inflate(
  file: Blob,
  { method, isEncrypted, start, size }: ZipEntry,
  onRead: (bytes: number) => void = () => {},
): AsyncGenerator<Uint8Array, void> {
  if (isEncrypted) throw new InvalidWorkbook('the workbook is protected by a password')
  if (method !== STORED && method !== DEFLATED) {
    throw new InvalidWorkbook('the workbook is compressed in an unknown way')
  }
  const header = await view(file.slice(start, start + LOCAL_HEADER_SIZE))
  if (header.byteLength < LOCAL_HEADER_SIZE || header.getUint32(0, true) !== LOCAL_HEADER) {
    throw new InvalidWorkbook('the workbook is damaged or cut off')
  }
  const first = start + LOCAL_HEADER_SIZE + header.getUint16(26, true) + header.getUint16(28, true)
  const data = file.slice(first, first + size)
  if (data.size < size) throw new InvalidWorkbook('the workbook is damaged or cut off')
  let at = 0
  let chunk = new Uint8Array()
  const parts = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      if (chunk.length === 0) {
        chunk = new Uint8Array(await data.slice(at, at + CHUNK_BYTES).arrayBuffer())
        at += chunk.length
      }
      if (chunk.length === 0) return controller.close()
      const part = chunk.slice(0, PART_BYTES)
      chunk = chunk.subarray(PART_BYTES)
      onRead(part.length)
      controller.enqueue(part)
    },
  })
  const inflated =
    method === STORED ? parts : parts.pipeThrough(new DecompressionStream('deflate-raw'))
  const reader = inflated.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } catch (error) {
    // The platform's message for data that is not compressed correctly differs.
    throw error instanceof TypeError
      ? new InvalidWorkbook('the workbook is damaged or cut off')
      : error
  } finally {
    await reader.cancel().catch(() => {})
  }
}

async function view(part: Blob): Promise<DataView<ArrayBuffer>> {
  return new DataView(await part.arrayBuffer())
}
