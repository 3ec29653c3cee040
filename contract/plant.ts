/** What a plant has apart from its id. `null` is how databases represent that there is no tag. */
interface Content {
  readonly name: string
  readonly tag?: string | null | undefined
}

/** Whether two plants have the same name and tag. A missing tag differs from an empty one, and no plant from any plant. */
export function hasSameContent(one: Content | undefined, other: Content | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  return one.name === other.name && (one.tag ?? undefined) === (other.tag ?? undefined)
}

/** A plant as JSON, without optional whitespace. JSON.stringify rejects ids, which are bigints. */
export function plantJson({ id, name, tag }: Content & { readonly id: bigint }): string {
  const members = JSON.stringify(tag === null || tag === undefined ? { name } : { name, tag })
  return `{"id":${id},${members.slice(1)}`
}
