import { open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { fileError } from '../config/file-error.ts'
import { STANDARD } from './format.ts'

/** Where a catalogue is read from and, where that is known, how many bytes it has. */
export interface Source {
  readonly source: Readable
  readonly size?: number
}

/**
 * Opens what a file names on the command line.
 *
 * @throws ConfigError if it cannot be read
 */
export async function openSource(file: string): Promise<Source> {
  if (file === STANDARD) return { source: process.stdin }
  try {
    const handle = await open(file)
    const stat = await handle.stat()
    const source = handle.createReadStream()
    return stat.isFile() ? { source, size: stat.size } : { source }
  } catch (error) {
    throw fileError(`cannot read ${file}`, error)
  }
}

/**
 * What can be read until the end, or until it is interrupted.
 *
 * @throws ConfigError if it cannot be read
 */
export async function* bytesOf(
  file: string,
  source: AsyncIterable<Buffer>,
  interrupted = () => false,
): AsyncGenerator<Buffer, void> {
  try {
    yield* source
  } catch (error) {
    if (!interrupted()) throw fileError(`cannot read ${file}`, error)
  }
}
