import type { ErrorObject } from 'ajv'
import type { NewPlant } from '../../service/plant-store.ts'
import { loadContract } from '../contract/contract.ts'
import { componentShape, type Shape } from '../contract/shape.ts'
import { compileComponent } from '../contract/validation.ts'

/** What a record of a catalogue is: a plant, or the reason why it is none. */
export type Content = NewPlant | string

/** A record and the line of the file that it begins on, from 1. */
export interface Entry {
  readonly line: number
  readonly content: Content
}

/** Tells whether a value is what the contract calls a NewPlant; it may change the value on the way. */
export interface Check {
  (value: unknown): Content
  /** The parts of a value that it checks. */
  readonly shape: Shape
}

/** Makes the check, which costs some milliseconds, once. */
export function plantCheck(): Check {
  const contract = loadContract()
  const validate = compileComponent(contract, 'NewPlant')
  const check = (value: unknown): Content => {
    if (!validate(value)) return reasonOf(validate.errors as [ErrorObject])
    const { id, name, tag } = value as NewPlant
    return tag === undefined ? { id, name } : { id, name, tag }
  }
  return Object.assign(check, { shape: componentShape(contract, 'NewPlant') })
}

/** As the API says it, without the `body/` in front. */
function reasonOf([{ instancePath, message }]: [ErrorObject]): string {
  return `${instancePath.slice(1)} ${message}`.trim()
}
