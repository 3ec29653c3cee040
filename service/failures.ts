/** The failures of operations on plants. */
import { conflictMessage, LIST_TEXT_MAX, type NoMatch, type Refusal } from './plant-store.ts'

interface Failure<Code extends string> {
  readonly failure: Code
  readonly message: string
}

export function toConflict(id: bigint) {
  return { failure: 'plant-exists', message: conflictMessage(id) } as const
}

export function toMismatch(pathId: bigint, bodyId: bigint) {
  const message = `body/id is ${bodyId}, but the path has the id ${pathId}`
  return { failure: 'id-mismatch', message } as const
}

export function toFailure(id: bigint, reason: NoMatch) {
  return reason === 'not-found'
    ? ({ failure: 'plant-not-found', message: `plant ${id} does not exist` } as const)
    : ({ failure: 'plant-changed', message: `plant ${id} has changed; fetch it again` } as const)
}

export function toRefusal(id: bigint, refusal: Refusal) {
  return refusal === 'conflict' ? toConflict(id) : toFailure(id, refusal)
}

export const LIST_TOO_LARGE = {
  failure: 'changes-too-large',
  message: `the list affects more than ${LIST_TEXT_MAX} bytes of stored plants; send fewer changes at a time`,
} as const

/** The failure of one item of the body. */
export function ofItem<Code extends string>(
  index: number,
  { failure, message }: Failure<Code>,
): Failure<Code> {
  return { failure, message: `body/${index}: ${message}` }
}
