import type { RecordValues } from '../../core/files/record-mapper.ts'

/** A record of a file. */
export interface ParsedRecord {
  /** The line of the file that the record starts on or, in a JSON array, the number of the item. Both start at 1. */
  readonly number: number
  /** What the record says about a plant, or why it is refused. Undefined for a record without any value. */
  readonly result: RecordValues | string | undefined
  /** The names of members that are not stored, at most NAMES_MAX of them. */
  readonly ignored?: readonly string[] | undefined
}

/** Consecutive records of a file. */
export interface RecordBatch {
  readonly records: readonly ParsedRecord[]
  /** How many bytes of the file have been read. The last record that they contain can follow in the next batch. */
  readonly endByte: number
}
