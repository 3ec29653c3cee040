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
