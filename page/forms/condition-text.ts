import type { Condition } from '../list/field-filter.ts'
import { isOwn, members } from '../model/current-members.ts'
import { cut, memberLabel } from '../text/display-text.ts'
import { valueLabel } from './control.ts'

export const operators = {
  is: 'is',
  min: 'is at least',
  max: 'is at most',
  without: 'has no value',
} as const satisfies { readonly [Kind in Condition['kind']]: string }

/** Enough to recognize a value. */
const VALUE_LENGTH = 60

/** A condition in words, such as `Height in cm is at least 10`. The field may not exist. */
export function describeCondition({ kind, name, values }: Condition): string {
  if (kind === 'without' && name === 'tag') return 'No tag'
  const member = members.find((each) => each.name === name)
  const start = `${member ? memberLabel(member) : name} ${operators[kind]}`
  if (kind === 'without') return start
  const labels = values.map((text) =>
    cut(member && isOwn(member) ? valueLabel(member, text) : text, VALUE_LENGTH),
  )
  return `${start} ${labels.map((label) => label.trim() || 'empty').join(' or ')}`
}
