import type { onRequestHookHandler } from 'fastify'
import {
  assertReadable,
  isConsistent,
  type Restriction,
  type RestrictionReader,
  readOnlyReason,
  readRestriction,
  restrictedError,
} from '../../../service/restriction.ts'
import { shareResult } from '../../../time/shared-result.ts'
import { ApiError } from '../responses/api-error.ts'

/**
 * How long a restriction stays known, unless it makes reads fail. Other processes change it, which must take effect
 * within a second.
 */
const LIFETIME_MS = 500

/**
 * An `onRequest` hook that rejects requests which the restriction of the database does not allow, before their bodies
 * are read. Only requests make it read the restriction, and those that arrive meanwhile share the read.
 *
 * The database refuses changes too, so a change that arrives before a new restriction is known does no harm.
 */
export function enforceRestriction(store: RestrictionReader): onRequestHookHandler {
  let known: Restriction | undefined
  let knownUntil = Number.NEGATIVE_INFINITY
  const read = shareResult(async () => {
    const begun = performance.now()
    known = await readRestriction(store)
    // A mirror becomes readable at the moment at which it becomes ready, which is not remembered either.
    const isPartial = typeof known === 'object' && !isConsistent(known)
    if (!isPartial) knownUntil = begun + LIFETIME_MS
  })
  return ({ method }, _reply, next) => {
    if (performance.now() < knownUntil) {
      assertAllowed(method, known)
      next()
    } else {
      read()
        .then(() => assertAllowed(method, known))
        .then(() => next(), next)
    }
  }
}

/** @throws ApiError, or StoreUnavailable */
function assertAllowed(method: string, restriction: Restriction | undefined): void {
  if (method === 'GET' || method === 'HEAD') assertReadable(restriction)
  else if (restriction === 'frozen') throw restrictedError(restriction)
  else if (restriction !== undefined) {
    throw new ApiError('read-only-mirror', readOnlyReason(restriction))
  }
}
