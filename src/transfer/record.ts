import type { ErrorObject } from 'ajv'
import { loadContract } from '../../contract/contract.ts'
import { compileComponent } from '../../contract/validators.ts'
import type { NewPlant } from '../../service/plant-store.ts'

/** A plant, or the reason why a record is invalid. */
export type ParseResult = NewPlant | string

/** A record of a file. */
export interface ParsedRecord {
  /** The line of the file that the record starts on or, in a JSON array, the number of the item. Both start at 1. */
  readonly number: number
  /** Undefined for a row without any value. */
  readonly result: ParseResult | undefined
  /** The names of members that are not stored, at most NAMES_MAX of them. */
  readonly ignored?: readonly string[]
}

/** Consecutive records of a file. */
export interface RecordBatch {
  readonly records: readonly ParsedRecord[]
  /** Where the batch ends in the file, in bytes from its start. */
  readonly position: number
}

/** How to read a file. */
export interface ReadOptions {
  /** Read CSV files that have columns other than those of a plant, which are not stored. */
  readonly ignoreColumns?: boolean
  /** Refuse JSON records that have members other than those of a plant, which are not stored. */
  readonly refuseMembers?: boolean
  /** Whether the input can end anywhere, like that of a pipe whose writer is killed. */
  readonly canBeCutOff?: boolean
  /** Ends reading with its reason. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Reads the records of a file as its bytes arrive. The last record needs no newline.
 *
 * @throws ConfigError if the file's header or its structure is invalid, after the records before the fault; and the
 *   errors of `chunks`
 */
export type ReadRecords = (
  chunks: AsyncIterable<Buffer>,
  options: ReadOptions,
) => AsyncIterable<RecordBatch>

/** The largest record in NDJSON and CSV. It bounds the memory that an import needs. */
export const RECORD_BYTES_MAX = 2 ** 22

export const TOO_LARGE = `record must not exceed ${RECORD_BYTES_MAX} bytes`

/** Explains an error in the last line of an input that does not end with a newline. */
export const ENDS_WITHIN = 'the input ends within this line'

const BYTE_ORDER_MARK = Buffer.from('\ufeff')

export function withoutByteOrderMark(start: Buffer): Buffer {
  const { length } = BYTE_ORDER_MARK
  return start.subarray(0, length).equals(BYTE_ORDER_MARK) ? start.subarray(length) : start
}

/**
 * Compiles a validator of the contract's NewPlant, which takes a few milliseconds. The validator can modify the value.
 */
export function recordValidator(): (value: unknown) => ParseResult {
  const isNewPlant = compileComponent(loadContract(), 'NewPlant')
  return (value) => {
    if (!isNewPlant(value)) return describeError(isNewPlant.errors as [ErrorObject])
    const { id, name, tag } = value as NewPlant
    return tag === undefined ? { id, name } : { id, name, tag }
  }
}

/** The same message as in the API, without its `body/` prefix. */
function describeError([{ instancePath, message }]: [ErrorObject]): string {
  return `${instancePath.slice(1)} ${message}`.trim()
}
