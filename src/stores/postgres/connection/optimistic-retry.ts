import { retry } from '../../../../core/time/retries.ts'
import { StoreUnavailable } from '../../../../service/store/plant-store.ts'

/** More attempts than concurrent writers cause in practice. Bounds the work for a plant that changes constantly. */
const ATTEMPTS_MAX = 100

class Interference extends StoreUnavailable {
  constructor() {
    super('busy', `concurrent changes to the same plants interfered with ${ATTEMPTS_MAX} attempts`)
  }
}

/**
 * Repeats an optimistic change until no concurrent change interferes.
 *
 * @param attempt resolves to undefined if a concurrent change interfered
 * @throws StoreUnavailable after ATTEMPTS_MAX attempts
 */
export function retryOptimistically<Result>(
  attempt: () => Promise<Result | undefined>,
): Promise<Result> {
  const attemptOnce = async () => {
    const result = await attempt()
    if (result === undefined) throw new Interference()
    return result
  }
  return retry(attemptOnce, {
    attempts: ATTEMPTS_MAX,
    delayMs: 0,
    delayAfter: (error) => (error instanceof Interference ? 0 : undefined),
  })
}
