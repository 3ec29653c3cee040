/**
 * Shares the result of one call among all callers, including concurrent ones. A failure is not cached; the next call
 * tries again.
 */
export function once<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let result: Promise<Result> | undefined
  return () => {
    result ??= work().catch((error: unknown) => {
      result = undefined
      throw error
    })
    return result
  }
}
