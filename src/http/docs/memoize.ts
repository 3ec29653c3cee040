/**
 * Runs an asynchronous function once and shares its result among all callers, including concurrent ones. A failure is
 * not cached: the next call tries again.
 */
export function memoize<Result>(load: () => Promise<Result>): () => Promise<Result> {
  let result: Promise<Result> | undefined
  return () => {
    result ??= load().catch((error: unknown) => {
      result = undefined
      throw error
    })
    return result
  }
}
