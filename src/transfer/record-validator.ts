import type { ErrorObject } from 'ajv'
import { loadContract } from '../../contract/contract.ts'
import { compileComponent } from '../../contract/validation.ts'
import type { NewPlant } from '../../service/plant-store.ts'
import type { ParseResult } from './record-reader.ts'

/** Validates a value against the contract's NewPlant. It can modify the value. */
export type RecordValidator = (value: unknown) => ParseResult

/** Compiles the validator, which takes a few milliseconds. */
export function recordValidator(): RecordValidator {
  const contract = loadContract()
  const isNewPlant = compileComponent(contract, 'NewPlant')
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
