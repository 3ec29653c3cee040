import { type MemberValue, writeText } from '../../core/members/members.ts'
import type { OwnMember } from '../model/current-members.ts'
import { cut } from './display-text.ts'
import { describeDate } from './intl.ts'
import { linkTarget } from './links.ts'
import { PlantText } from './plant-text.tsx'

/** The value of an own member. */
export function OwnValue({
  member: { schema },
  value,
  length = Number.POSITIVE_INFINITY,
  tabIndex = 0,
  isSpelledOut = false,
}: {
  readonly member: OwnMember
  readonly value: MemberValue
  /** Longer text is cut. */
  readonly length?: number
  /** That of a link. */
  readonly tabIndex?: 0 | -1
  /** Whether to write `yes` and `no`. Otherwise, a cell that is not checked is blank. */
  readonly isSpelledOut?: boolean
}) {
  if (typeof value === 'boolean') {
    const word = value ? 'yes' : 'no'
    return isSpelledOut ? <span>{word}</span> : <Check isChecked={value} word={word} />
  }
  const text = writeText(value)
  const date = schema.format && describeDate(text, schema.format)
  if (date) return <time dateTime={text}>{date}</time>
  const target = schema.format === 'uri' ? linkTarget(text) : undefined
  if (target === undefined) return <PlantText text={text} blank="Empty" length={length} />
  return (
    <a href={target} rel="noreferrer" target="_blank" tabIndex={tabIndex}>
      <bdi>{cut(text, length)}</bdi>
    </a>
  )
}

function Check({ isChecked, word }: { readonly isChecked: boolean; readonly word: string }) {
  return (
    <>
      {isChecked && <span aria-hidden="true">✓</span>}
      <span class="for-screen-readers">{word}</span>
    </>
  )
}
