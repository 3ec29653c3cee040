import { createReadStream, fstatSync, open } from 'node:fs'
import { Socket } from 'node:net'
import { addAbortSignal, type Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import { fileError } from '../system/user-errors.ts'
import { STDIO } from './format.ts'

/** A file to import, or standard input. */
export interface InputFile {
  /** Its bytes. Throws FileError if they cannot be read, and the reason of the signal that interrupts it. */
  readonly chunks: AsyncIterable<Buffer>
  /** Whether its end is known. The end of a pipe can also mean that its writer was killed. */
  readonly isFile: boolean
  /** Undefined if unknown. */
  readonly sizeBytes?: number
  close(): void
}

/**
 * Opens a file, or standard input for `-`.
 *
 * @throws FileError if the file cannot be opened
 */
export async function openInput(file: string, signal?: AbortSignal): Promise<InputFile> {
  if (file === STDIO) {
    const isFile = fstatSync(process.stdin.fd).isFile()
    return readFrom(file, process.stdin, { isFile }, signal)
  }
  try {
    const fd = await promisify(open)(file, 'r')
    const stat = fstatSync(fd)
    const isFile = stat.isFile()
    const size = isFile ? { isFile, sizeBytes: stat.size } : { isFile }
    // A read of a file stream cannot be interrupted while it waits for the writer of a pipe.
    const stream = stat.isFIFO()
      ? new Socket({ fd, readable: true, writable: false })
      : createReadStream(file, { fd })
    return readFrom(file, stream, size, signal)
  } catch (error) {
    throw fileError(`cannot read ${file}`, error)
  }
}

function readFrom(
  file: string,
  stream: Readable,
  size: Pick<InputFile, 'isFile' | 'sizeBytes'>,
  signal: AbortSignal | undefined,
): InputFile {
  // An error before the first read would otherwise end the process. The first read reports it.
  stream.on('error', () => {})
  if (signal !== undefined) addAbortSignal(signal, stream)
  async function* read() {
    try {
      yield* stream
    } catch (error) {
      signal?.throwIfAborted()
      throw fileError(`cannot read ${file}`, error)
    }
    // Ctrl-C also ends the writer of a pipe, and the end of its output can be noticed before the signal is.
    await setImmediate()
    signal?.throwIfAborted()
  }
  return { ...size, chunks: read(), close: () => stream.destroy() }
}
