/** The part of a document at a reference such as `#/components/schemas/Plant`. */
export function resolveReference(document: object, reference: string): unknown {
  const [, ...path] = reference.split('/')
  let found: unknown = document
  for (const name of path) found = (found as Record<string, unknown>)[name]
  return found
}
