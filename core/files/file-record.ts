/** A record of a file, before its columns are mapped to those of a plant. */
export interface FileRecord {
  /** The line of the file that the record starts on or, in a JSON array, the number of the item. Both start at 1. */
  readonly number: number
  /**
   * In CSV the fields by index, which are undefined if they are empty without quotes. In JSON the members by name;
   * integers within int64 are bigints, and other numbers that a double changes are InexactNumbers.
   */
  readonly values: Readonly<Record<string, unknown>>
  /** Why the record is invalid, whatever its columns mean. Its subject has no article. */
  readonly problem?: string
  /** Whether the record could not be parsed, so that its values are a guess. */
  readonly isMalformed?: true
  /** Whether a record of CSV has no value at all. */
  readonly isBlank?: true
  /** Whether the file ends without a line break after a record of CSV. */
  readonly isUnterminated?: true
}

/** TypeScript does not declare this function yet. */
export const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): unknown }

/** A number in JSON that neither an int64 nor a double represents. No member of a plant has such a value. */
export class InexactNumber {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  toString(): string {
    return this.#text
  }

  toJSON(): unknown {
    return rawJSON(this.#text)
  }
}

/**
 * Reads the records of a file as its text arrives. Text that is not valid UTF-8 has lone surrogates in place of the
 * invalid bytes. Iterate over each result to its end before the next call.
 */
export interface RecordReader {
  /**
   * Reads the records that end within the next part of the text.
   *
   * @throws MalformedFile after the records before the fault
   */
  read(text: string): Iterable<FileRecord>
  /**
   * Reads the rest.
   *
   * @throws MalformedFile after the records before the fault
   */
  end(): Iterable<FileRecord>
}

/** A file cannot be read any further, for example because the start of the next record is ambiguous. */
export class MalformedFile extends Error {
  /** That of the malformed record. */
  readonly number: number

  constructor(number: number, reason: string) {
    super(reason)
    this.number = number
  }
}

/** The number of characters in the largest record. It bounds the memory that an import needs. */
export const RECORD_LENGTH_MAX = 2 ** 22

/** As many as a sheet has in Excel. */
export const COLUMNS_MAX = 2 ** 14

export const TOO_LONG = `record must not exceed ${RECORD_LENGTH_MAX} characters`

export const NOT_UTF8 = 'record is not valid UTF-8'
