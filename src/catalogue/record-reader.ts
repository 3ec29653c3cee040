import type { Entry } from './entry.ts'

/** Reads the records of one catalogue from its first byte to its last. */
export interface RecordReader {
  /**
   * Reads the whole records that `bytes` begins with.
   *
   * @param bytes what is behind the records that were read before
   * @param ended whether nothing follows on these bytes; then all of them are read
   * @throws ConfigError if this is no catalogue at all
   */
  read(bytes: Buffer, ended: boolean): Records
}

export interface Records {
  readonly entries: readonly Entry[]
  /** How many bytes they took. */
  readonly length: number
}

const NEWLINE = 0x0a

/** How many bytes a record may have where nobody says otherwise. */
export const RECORD_LIMIT = 2 ** 22

/** Where the line with the byte `from` ends: behind its newline or, if it has none, behind all bytes. */
export function endOfLine(bytes: Buffer, from: number): number {
  return bytes.indexOf(NEWLINE, from) + 1 || bytes.length
}

/** Where the last line ends that has a newline; 0 if none has. */
export function endOfLines(bytes: Buffer): number {
  return bytes.lastIndexOf(NEWLINE) + 1
}

/** Whether a newline is in front of `end`. */
export function endsLine(bytes: Buffer, end: number): boolean {
  return bytes[end - 1] === NEWLINE
}

/** How many newlines there are from `from` to `end`. */
export function linesIn(bytes: Buffer, from: number, end: number): number {
  let lines = 0
  for (let at = bytes.indexOf(NEWLINE, from); at !== -1 && at < end; lines++) {
    at = bytes.indexOf(NEWLINE, at + 1)
  }
  return lines
}

/** The reason to refuse a record for its size. */
export function tooLarge(limit: number): string {
  return `record must not be larger than ${limit} bytes`
}
