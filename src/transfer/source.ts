import { open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { fileError } from '../config/file-error.ts'
import { STDIO } from './format.ts'

/** A file to import, or standard input. */
export interface Source {
  readonly stream: Readable
  /** Undefined if it is not a regular file. */
  readonly sizeBytes?: number
}

/**
 * Opens a file, or standard input for `-`.
 *
 * @throws ConfigError if the file cannot be opened
 */
export async function openSource(file: string): Promise<Source> {
  if (file === STDIO) return { stream: process.stdin }
  try {
    const handle = await open(file)
    const stat = await handle.stat()
    const stream = handle.createReadStream()
    return stat.isFile() ? { stream, sizeBytes: stat.size } : { stream }
  } catch (error) {
    throw fileError(`cannot read ${file}`, error)
  }
}

/**
 * Reads a stream to its end.
 *
 * @param isInterrupted whether the stream was destroyed on purpose; if so, the bytes end there without an error
 * @throws ConfigError if the stream cannot be read
 */
export async function* readSource(
  file: string,
  stream: AsyncIterable<Buffer>,
  isInterrupted = () => false,
): AsyncGenerator<Buffer, void> {
  try {
    yield* stream
  } catch (error) {
    if (!isInterrupted()) throw fileError(`cannot read ${file}`, error)
  }
}
