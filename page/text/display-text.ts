import type { Member } from '../../core/members/members.ts'
import { findWords } from '../../core/members/words.ts'

/** More than fits into a row. Longer text would make a browser slow although most of it is not visible. */
export const ROW_LENGTH = 300

/** Enough to recognize a plant in a sentence. */
const LABEL_LENGTH = 60

/** The start of a string, with an ellipsis if there is more. Does not break surrogate pairs. */
export function cut(text: string, length: number): string {
  if (text.length <= length) return text
  return `${text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '')}…`
}

/** The part of a string in which it differs from another one. */
export function cutAtDifference(text: string, other: string, length: number): string {
  let same = 0
  while (same < text.length && text[same] === other[same]) same++
  if (same < length) return cut(text, length)
  const context = Math.floor(length / 4)
  // Not between the halves of a surrogate pair.
  const rest = text.slice(same - context).replace(/^[\uDC00-\uDFFF]/, '')
  return `…${cut(rest, length)}`
}

/** What to call a plant in a sentence, such as the label of a button. */
export function labelOf({
  id,
  name,
}: {
  readonly id: bigint | string
  readonly name: string
}): string {
  return isBlank(name) ? `plant ${id}` : cut(name, LABEL_LENGTH)
}

/** What a member of a plant is called in a form or above a column. */
export function memberLabel({ name, schema }: Pick<Member, 'name' | 'schema'>): string {
  if (schema !== undefined) return schema.title?.trim() || name
  return name.slice(0, 1).toUpperCase() + name.slice(1)
}

/** Whether nothing of a string would be visible. */
export function isBlank(text: string): boolean {
  return text.length <= ROW_LENGTH && text.trim() === ''
}

/** A string as a textarea shows it, whose line breaks are all \n. */
export function toLines(text: string): string {
  return text.replace(/\r\n?/g, '\n')
}

/** What was typed into a textarea, with the kind of line breaks that the text had before. */
export function fromLines(lines: string, before: string): string {
  return before.includes('\r\n') ? lines.replaceAll('\n', '\r\n') : lines
}

/** A part of a string. */
export interface TextPart {
  readonly text: string
  /** What to call it, if nothing of it would be visible. Then the text is a mark in its place. */
  readonly name?: string
  /** Whether it was searched for. */
  readonly isFound?: true
}

/** Without those that change how their neighbors look, such as the joiners and variation selectors of emoji. */
const INVISIBLE =
  /\r\n|\s|\p{Cc}|(?!\u034f|[\u180b-\u180f]|\u200c|\u200d|[\ufe00-\ufe0f]|[\u{e0000}-\u{e0fff}])\p{Default_Ignorable_Code_Point}/gu

const LINE_BREAK = /^[\n-\r\u0085\u2028\u2029]/

/**
 * A string with marks for what a person would not see: line breaks, space around it, and invisible characters.
 *
 * @param words that were searched for, as `toWords` returns them
 */
export function visibleParts(text: string, words: readonly string[] = []): readonly TextPart[] {
  const start = text.length - text.trimStart().length
  const end = text.trimEnd().length
  const ranges = findWords(text, words)
  const parts: TextPart[] = []
  let done = 0
  const addUntil = (end: number) => {
    for (const [from, to] of [...ranges, [end, end] as const]) {
      const start = Math.min(Math.max(from, done), end)
      const stop = Math.min(Math.max(to, done), end)
      if (start > done) parts.push({ text: text.slice(done, start) })
      if (stop > start) parts.push({ text: text.slice(start, stop), isFound: true })
      done = stop
    }
  }
  for (const { 0: found, index } of text.matchAll(INVISIBLE)) {
    const isSpace = /^[^\S\t]$/.test(found) && !LINE_BREAK.test(found)
    if (isSpace && index >= start && index < end) continue
    addUntil(index)
    parts.push(markOf(found))
    done = index + found.length
  }
  addUntil(text.length)
  return parts
}

function markOf(found: string): TextPart {
  if (LINE_BREAK.test(found)) return { text: '↵', name: 'line break' }
  if (found === ' ') return { text: '·', name: 'space' }
  if (found === '\t') return { text: '⇥', name: 'tab' }
  const code = `U+${found.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`
  return { text: code, name: code }
}
