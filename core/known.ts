/**
 * A value that is known to exist, although its type does not say so.
 *
 * @throws Error if it is missing, which is a bug
 */
export function known<Value>(value: Value | null | undefined): Value {
  if (value === undefined || value === null) throw new Error('a value is missing')
  return value
}

/** The properties of an object; none for null and for anything that is not an object. */
export function propertiesOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** The names of an object's properties. The object must have no others than its type lists. */
export function keysOf<Name extends string>(object: Readonly<Record<Name, unknown>>): Name[] {
  return Object.keys(object) as Name[]
}
