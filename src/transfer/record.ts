import type { ErrorObject } from 'ajv'
import { type ContractDocument, plantMembers } from '../../core/contract/contract.ts'
import { compileComponent } from '../../core/contract/validators.ts'
import type { components } from '../../core/generated/api.gen.ts'
import { known } from '../../core/known.ts'
import { PlantCodec } from '../../service/plant-codec.ts'
import type { NewPlant } from '../../service/store/plant-store.ts'

/** A plant, or the reason why a record is invalid. */
export type ParseResult = NewPlant | string

/** A record of a file. */
export interface ParsedRecord {
  /** The line of the file that the record starts on or, in a JSON array, the number of the item. Both start at 1. */
  readonly number: number
  /** Undefined for a record without any value. */
  readonly result: ParseResult | undefined
  /** The names of members that are not stored, at most NAMES_MAX of them. */
  readonly ignored?: readonly string[]
}

/** Consecutive records of a file. */
export interface RecordBatch {
  readonly records: readonly ParsedRecord[]
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

/** The same message as in the API, without its `body/` prefix. */
function describeError({ instancePath, message }: ErrorObject): string {
  return `${instancePath.slice(1)} ${message}`.trim()
}
