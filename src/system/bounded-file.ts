import { closeSync, openSync, readSync } from 'node:fs'
import { FileError, fileError } from './user-errors.ts'

/**
 * Reads a whole file that the user names. It can also be a pipe, whose size is unknown, or a device that never ends.
 *
 * @param bytesMax how large it can be; no more is read
 * @param label what to call the file in an error
 * @throws FileError if it cannot be read or is larger
 */
export function readBounded(file: string, bytesMax: number, label = file): Buffer {
  const buffer = Buffer.alloc(bytesMax + 1)
  let bytes = 0
  try {
    const descriptor = openSync(file, 'r')
    try {
      for (let read = -1; read !== 0 && bytes <= bytesMax; bytes += read) {
        read = readSync(descriptor, buffer, bytes, buffer.length - bytes, null)
      }
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    throw fileError(`cannot read ${label}`, error)
  }
  if (bytes > bytesMax)
    throw new FileError(`cannot use ${label}: expected at most ${bytesMax} bytes`)
  return buffer.subarray(0, bytes)
}
