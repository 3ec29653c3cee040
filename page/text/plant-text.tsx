import { cut, isBlank } from './display-text.ts'

/** A name or a tag. Isolated, so that its direction and its marks do not affect what surrounds it. */
export function PlantText({
  text,
  blank,
  length = Number.POSITIVE_INFINITY,
}: {
  readonly text: string
  /** What to show if nothing of the text would be visible. */
  readonly blank: string
  /** Longer text is cut. */
  readonly length?: number
}) {
  if (isBlank(text)) return <span class="blank">{blank}</span>
  return <bdi>{cut(text, length)}</bdi>
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
