/** A record of a file, before its columns are mapped to those of a plant. */
export interface Row {
  /** The line of the file that the record starts on or, in a JSON array, the number of the item. Both start at 1. */
  readonly number: number
  /**
   * In CSV the fields by index, which are undefined if they are empty without quotes. In JSON the members by name;
   * integers within int64 are bigints.
   */
  readonly values: Readonly<Record<string, unknown>>
  /** Why the record is invalid, whatever its columns mean. */
  readonly problem?: string
}

/** The number of characters in the largest record. It bounds the memory that an import needs. */
export const RECORD_LENGTH_MAX = 2 ** 22

/** A file cannot be imported, or not any further. The message consists of sentences for the person. */
export class FileProblem extends Error {}
