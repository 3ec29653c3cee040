import {
  ServiceError,
  type StoredPlant,
  UnexpectedResponseError,
  UnknownOutcomeError,
} from '../../client/client.ts'
import { hasCondition } from '../../client/errors.ts'
import { messageOf } from '../errors/error-text.ts'
import type { Intent } from './intent.ts'

/** An intent that is not carried out. */
export interface Refusal<Each extends Intent> {
  readonly intent: Each
  /** Without a final period. */
  readonly reason: string
  /** What the service has refused it with. */
  readonly error?: ServiceError | UnexpectedResponseError
  /** The plant that is stored instead. */
  readonly stored?: StoredPlant | undefined
  /** Whether it adds a plant, and did not because a different one has its id. */
  readonly isTaken?: boolean
}

const REFUSED = new Set([400, 404, 409, 412])

/** Proxies send it too, because they can allow less than the service. */
const CONTENT_TOO_LARGE = 413

const TAKEN = 'A different plant has this id'

const CHANGED = 'Somebody has changed this plant meanwhile'

const DELETED = 'Somebody has deleted this plant meanwhile'

/** Whether a plant has changed, or may have, between looking at it and changing it. */
export function isRace(error: unknown): boolean {
  if (error instanceof UnknownOutcomeError) return true
  const races = ['plant-exists', 'plant-changed', 'plant-not-found'] as const
  return races.some((condition) => hasCondition(error, condition))
}

/** Whether sending the same again is useless. */
export function isRefusal(error: unknown): error is ServiceError | UnexpectedResponseError {
  if (error instanceof UnexpectedResponseError) return isTooLarge(error)
  return error instanceof ServiceError && (isTooLarge(error) || REFUSED.has(error.status))
}

/** Whether fewer changes at a time can succeed. */
export function isTooLarge({ status }: { readonly status: number }): boolean {
  return status === CONTENT_TOO_LARGE
}

/** Whether a request that failed may have changed plants. */
export function mayHaveTakenEffect(error: unknown): boolean {
  return !(error instanceof ServiceError) || ![401, 403, 429].includes(error.status)
}

/** Why the service refuses the change of a plant. */
export function describeRefusal(error: ServiceError | UnexpectedResponseError): string {
  if (error instanceof UnexpectedResponseError) return 'A proxy refuses the plant as too large'
  if (error.condition === 'plant-exists') return TAKEN
  return `The service refuses the plant: ${messageOf(error)}`
}

/** Why an intent does not fit what is stored. */
export function describeConflict({ before }: Intent, stored: StoredPlant | undefined): string {
  if (before === undefined) return TAKEN
  return stored === undefined ? DELETED : CHANGED
}
