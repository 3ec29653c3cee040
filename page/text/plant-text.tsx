import { cut, ROW_LENGTH, visibleParts } from './display-text.ts'

/** A name or a tag. Isolated, so that its direction and its marks do not affect what surrounds it. */
export function PlantText({
  text,
  blank,
  length = Number.POSITIVE_INFINITY,
  words,
}: {
  readonly text: string
  /** What to show if the text is empty. */
  readonly blank: string
  /** Longer text is cut. */
  readonly length?: number
  /** What to mark: words that were searched for. */
  readonly words?: readonly string[]
}) {
  if (text === '') return <span class="blank">{blank}</span>
  return (
    <bdi>
      {visibleParts(cut(text, length), words).map(({ text, name, isFound }) => {
        if (isFound) return <mark>{text}</mark>
        if (name === undefined) return text
        return (
          <span class="invisible" role="img" aria-label={name} title={name}>
            {text}
          </span>
        )
      })}
    </bdi>
  )
}

/** How many colors tags have. */
const HUES = 8

/** The hue of a tag's color, in degrees. The same tag always has the same. */
function hueOf(tag: string): number {
  let hash = 0
  for (const character of tag.slice(0, ROW_LENGTH))
    hash = (hash * 47 + character.charCodeAt(0)) % 65_521
  return ((hash % HUES) * 360) / HUES
}

export function Tag({
  tag,
  ...limit
}: {
  readonly tag: string | undefined
  /** Longer text is cut. */
  readonly length?: number
}) {
  if (tag === undefined) return <span class="blank">No tag</span>
  return (
    <span class="tag" style={{ '--hue': hueOf(tag) }}>
      <PlantText text={tag} blank="Empty tag" {...limit} />
    </span>
  )
}
