/**
 * A value that is known to exist, although its type does not say so.
 *
 * @throws Error if it is missing, which is a bug
 */
export function known<Value>(value: Value | null | undefined): Value {
  if (value === undefined || value === null) throw new Error('a value is missing')
  return value
}
