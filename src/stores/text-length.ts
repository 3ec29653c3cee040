/** The length of a plant's text, in UTF-16 units. */
export function measureText({
  name,
  tag,
}: {
  readonly name?: string | undefined
  readonly tag?: string | null | undefined
}): number {
  return (name?.length ?? 0) + (tag?.length ?? 0)
}
