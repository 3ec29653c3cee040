import type { ErrorObject } from 'ajv'
import { type ContractDocument, plantMembers } from '../../core/contract/contract.ts'
import { compileComponent } from '../../core/contract/validators.ts'
import type { Format } from '../../core/files/readers.ts'
import type { RecordValues } from '../../core/files/record-mapper.ts'
import type { components } from '../../core/generated/api.gen.ts'
import { known } from '../../core/known.ts'
import type { Member } from '../../core/members/members.ts'
import { PlantCodec } from '../../service/plant-codec.ts'
import type { NewPlant } from '../../service/store/plant-store.ts'

/** A plant, or the reason why a record is invalid. */
export type ParseResult = NewPlant | string

/** A record of a file. */
export interface ParsedRecord<Values = NewPlant> {
  /** The line of the file that the record starts on or, in a JSON array, the number of the item. Both start at 1. */
  readonly number: number
  /** Undefined for a record without any value. */
  readonly result: Values | string | undefined
  /** The names of members that are not stored, at most NAMES_MAX of them. */
  readonly ignored?: readonly string[]
}

/** Consecutive records of a file. */
export interface RecordBatch<Values = NewPlant> {
  readonly records: readonly ParsedRecord<Values>[]
  /** How many bytes of the file have been read. The last record that they contain can follow in the next batch. */
  readonly endByte: number
}

/** How to read a file. */
export interface ReadOptions {
  /** The contract, which can have own fields. */
  readonly contract: ContractDocument
  /** Read CSV files that have columns other than those of a plant, which are not stored. */
  readonly ignoreColumns?: boolean
  /** Refuse JSON records that have members other than those of a plant, which are not stored. */
  readonly refuseMembers?: boolean
  /** Treat ids like members that plants do not have: the import chooses or finds them. */
  readonly withoutIds?: boolean
  /** Whether the input can end anywhere, like that of a pipe whose writer is killed. */
  readonly canBeCutOff?: boolean
}

/**
 * Compiles a validator of a contract's NewPlant, which takes a few milliseconds. The validator can modify the value.
 */
export function recordValidator(document: ContractDocument): (value: unknown) => ParseResult {
  const isNewPlant = compileComponent(document, 'NewPlant')
  const codec = new PlantCodec(plantMembers(document))
  return (value) =>
    isNewPlant(value)
      ? codec.toPlant(value as components['schemas']['NewPlant'])
      : describeError(known(isNewPlant.errors?.[0]))
}

/**
 * Temporary: until the readers yield RecordValues, converts their plants. A CSV file counts as having all columns.
 */
export async function* toRecordValues(
  batches: AsyncIterable<RecordBatch>,
  members: readonly Member[],
  format?: Format,
): AsyncGenerator<RecordBatch<RecordValues>, void> {
  const codec = new PlantCodec(members)
  const none = format === 'csv' ? Object.fromEntries(members.map(({ name }) => [name, null])) : {}
  const convert = (result: ParseResult | undefined) =>
    typeof result === 'object' ? { ...none, ...codec.toValues(result) } : result
  for await (const { records, endByte } of batches) {
    yield { records: records.map((each) => ({ ...each, result: convert(each.result) })), endByte }
  }
}

/** The same message as in the API, without its `body/` prefix. */
function describeError({ instancePath, message }: ErrorObject): string {
  return `${instancePath.slice(1)} ${message}`.trim()
}
