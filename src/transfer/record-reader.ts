import type { Entry } from './entry.ts'

const NEWLINE = 0x0a

/** Reads the records of one catalogue from its first byte to its last. */
export interface RecordReader {
  /**
   * Reads whole records from the beginning of `bytes`, at most `RECORD_BATCH_SIZE` of them.
   *
   * @param bytes the bytes after the records already read
   * @param ended whether these are the last bytes; if so, the last record needs no newline
   * @throws ConfigError if this is no catalogue at all
   */
  read(bytes: Buffer, ended: boolean): Records
}

export interface Records {
  readonly entries: readonly Entry[]
  /** How many bytes they took. */
  readonly length: number
  /** Whether the remaining bytes can be read without waiting for more. */
  readonly more: boolean
}

/** Large enough to amortize the cost of a call, small enough not to block the event loop. */
export const RECORD_BATCH_SIZE = 1000

/** How many bytes a record may have where nobody says otherwise. */
export const RECORD_LIMIT = 2 ** 22

/** Where the line that contains byte `from` ends: after its newline, or at the end of the bytes. */
export function endOfLine(bytes: Buffer, from: number): number {
  return bytes.indexOf(NEWLINE, from) + 1 || bytes.length
}

/** Whether a newline is in front of `end`. */
export function endsLine(bytes: Buffer, end: number): boolean {
  return bytes[end - 1] === NEWLINE
}

/** The reason to refuse a record for its encoding. */
export const NOT_UTF8 = 'record is not UTF-8'

/** The reason to refuse a record for its size. */
export function tooLarge(limit: number): string {
  return `record must not be larger than ${limit} bytes`
}
