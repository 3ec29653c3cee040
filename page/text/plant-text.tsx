import { cut, visibleParts } from './display-text.ts'

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

export function Tag({
  tag,
  ...limit
}: {
  readonly tag: string | undefined
  /** Longer text is cut. */
  readonly length?: number
}) {
  if (tag === undefined) return <span class="blank">no tag</span>
  return (
    <span class="tag">
      <PlantText text={tag} blank="empty tag" {...limit} />
    </span>
  )
}
