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

/** The length of the text of several plants, in UTF-16 units. */
export function measureTexts(plants: readonly Parameters<typeof measureText>[0][]): number {
  return plants.reduce((sum, plant) => sum + measureText(plant), 0)
}
