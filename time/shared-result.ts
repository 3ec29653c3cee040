/**
 * Lets concurrent callers share one result, and later callers too for a while after it arrived. A failure is shared
 * only by concurrent callers.
 *
 * @param lifetimeMs how long; Infinity for good
 */
export function shareResult<Result>(
  read: () => Promise<Result>,
  lifetimeMs = 0,
): () => Promise<Result> {
  let shared: Promise<Result> | undefined
  const forget = () => {
    shared = undefined
  }
  const keep = () => {
    if (lifetimeMs === 0) forget()
    else if (lifetimeMs !== Number.POSITIVE_INFINITY) setTimeout(forget, lifetimeMs).unref()
  }
  return () => {
    if (shared === undefined) {
      shared = read()
      shared.then(keep, forget)
    }
    return shared
  }
}
