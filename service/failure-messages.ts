/** The failures of operations on plants. */
import { LIST_TEXT_MAX, type Refusal } from './store/plant-store.ts'

interface Failure<Code extends string> {
  readonly failure: Code
  readonly message: string
}

export function toMismatch(pathId: bigint, bodyId: bigint) {
  const message = `body/id is ${bodyId}, but the path has the id ${pathId}`
  return { failure: 'id-mismatch', message } as const
}

/** What each refusal says about the plant. */
const REFUSALS: { readonly [refusal in Refusal]: string } = {
  'plant-exists': 'already exists with different content',
  'plant-not-found': 'does not exist',
  'plant-changed': 'has changed; fetch it again',
}

export function toFailure<Code extends Refusal>(id: bigint, failure: Code): Failure<Code> {
  return { failure, message: `plant ${id} ${REFUSALS[failure]}` }
}

export const LIST_TOO_LARGE = {
  failure: 'changes-too-large',
  message: `the list affects more than ${LIST_TEXT_MAX} bytes of stored plants; send fewer changes at a time`,
} as const

/** @param sort the parameter */
export function toIncomplete(sort: string) {
  const message = `the plants are still being sorted by ${sort.replace(/^-/, '')}; try again later`
  return { failure: 'index-incomplete', message } as const
}

/** The failure of one item of the body. */
export function ofItem<Code extends string>(
  index: number,
  { failure, message }: Failure<Code>,
): Failure<Code> {
  return { failure, message: `body/${index}: ${message}` }
}
