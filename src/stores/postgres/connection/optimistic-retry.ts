import { StoreUnavailable } from '../../../../service/plant-store.ts'

/** More attempts than concurrent writers cause in practice. Bounds the work for a plant that changes constantly. */
const ATTEMPTS_MAX = 100

/**
 * Repeats an optimistic change until no concurrent change interferes.
 *
 * @param attempt resolves to undefined if a concurrent change interfered
 * @throws StoreUnavailable after ATTEMPTS_MAX attempts
 */
export async function retryOptimistically<Result>(
  attempt: () => Promise<Result | undefined>,
): Promise<Result> {
  for (let attempts = 0; attempts < ATTEMPTS_MAX; attempts++) {
    const result = await attempt()
    if (result !== undefined) return result
  }
  const detail = `concurrent changes to the same plants interfered with ${ATTEMPTS_MAX} attempts`
  throw new StoreUnavailable('busy', detail)
}
