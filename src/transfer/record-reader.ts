import { NEWLINE } from '../../contract/bytes.ts'
import type { NewPlant } from '../../service/plant-store.ts'

/** A plant, or the reason why a record is invalid. */
export type ParseResult = NewPlant | string

export interface ParsedRecord extends ParsedResult {
  /** The line of the file that the record starts on or, in a JSON array, the number of the item. Both start at 1. */
  readonly number: number
}

export interface ParsedResult {
  /** Undefined for a row without any value. */
  readonly result: ParseResult | undefined
  /** The names of members that are not stored, at most NAMES_MAX of them. */
  readonly ignored?: readonly string[]
}

/** How to read a file. */
export interface ReaderOptions {
  /** Read CSV files that have columns other than those of a plant, which are not stored. */
  readonly ignoreColumns?: boolean
  /** Refuse JSON records that have members other than those of a plant, which are not stored. */
  readonly refuseMembers?: boolean
  /** Whether the input can end anywhere, like that of a pipe whose writer is killed. */
  readonly canBeCutOff?: boolean
}

/** Reads the records of one file, from its first byte to its last. */
export interface RecordReader {
  /**
   * Reads complete records from the start of `bytes`, at most `READ_RECORDS_MAX` of them.
   *
   * @param bytes the bytes after the records already read
   * @param isLast whether the file ends with these bytes; if so, the last record needs no newline
   * @throws ConfigError if the file's header or its structure is invalid
   */
  read(bytes: Buffer, isLast: boolean): ReadResult
}

export interface ReadResult {
  readonly records: readonly ParsedRecord[]
  /** Length of the records, in bytes. */
  readonly length: number
  /** Whether the remaining bytes can be read without waiting for more. */
  readonly more: boolean
}

/** Large enough to amortize the cost of a call, small enough not to block the event loop. */
export const READ_RECORDS_MAX = 1000

/** Default limit on the size of a record. */
export const RECORD_LIMIT_BYTES = 2 ** 22

/** Returns the end of the line that contains byte `from`: after its newline, or the end of the bytes. */
export function endOfLine(bytes: Buffer, from: number): number {
  return bytes.indexOf(NEWLINE, from) + 1 || bytes.length
}

/** Whether the byte before `end` is a newline. */
export function endsLine(bytes: Buffer, end: number): boolean {
  return bytes[end - 1] === NEWLINE
}

/** Explains an error in the last line of an input that does not end with a newline. */
export const ENDS_WITHIN = 'the input ends within this line'

export const NOT_UTF8 = 'record is not valid UTF-8'

export function tooLarge(limitBytes: number): string {
  return `record must not exceed ${limitBytes} bytes`
}
