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

/**
 * Lets concurrent callers share runs of some work. Each call resolves to the result of a run that began after it,
 * so it sees everything that had happened before. At most one run is in progress.
 */
export function shareRuns<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<unknown> = Promise.resolve()
  let next: Promise<Result> | undefined
  const begin = () => {
    next = undefined
    return work()
  }
  return () => {
    if (next === undefined) {
      next = running.then(begin, begin)
      running = next
    }
    return next
  }
}
