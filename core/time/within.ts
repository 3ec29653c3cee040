/** Resolves like a promise, or to `late` if that takes longer than `ms` milliseconds. */
export function within<Result, Late>(
  result: Promise<Result>,
  ms: number,
  late: Late,
): Promise<Result | Late> {
  const { promise, resolve } = Promise.withResolvers<Late>()
  const timer = setTimeout(resolve, ms, late)
  return Promise.race([result, promise]).finally(() => clearTimeout(timer))
}
