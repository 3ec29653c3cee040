import type { ErrorObject } from 'ajv'
import { loadContract } from '../../contract/contract.ts'
import { componentProjection, type Projection } from '../../contract/projection.ts'
import { compileComponent } from '../../contract/validation.ts'
import type { NewPlant } from '../../service/plant-store.ts'
import type { ParseResult } from './record-reader.ts'

/** Validates a value against the contract's NewPlant. It can modify the value. */
export interface RecordValidator {
  (value: unknown): ParseResult
  /** The members that are validated; a reader can skip all others. */
  readonly projection: Projection
}

/** Compiles the validator, which takes a few milliseconds. */
export function recordValidator(): RecordValidator {
  const contract = loadContract()
  const isNewPlant = compileComponent(contract, 'NewPlant')
  const validate = (value: unknown): ParseResult => {
    if (!isNewPlant(value)) return describeError(isNewPlant.errors as [ErrorObject])
    const { id, name, tag } = value as NewPlant
    return tag === undefined ? { id, name } : { id, name, tag }
  }
  return Object.assign(validate, { projection: componentProjection(contract, 'NewPlant') })
}

/** The same message as in the API, without its `body/` prefix. */
function describeError([{ instancePath, message }]: [ErrorObject]): string {
  return `${instancePath.slice(1)} ${message}`.trim()
}
