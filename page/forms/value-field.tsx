import type { Member } from '../../core/members/members.ts'
import { suggestionsOf, type Tags } from '../list/use-tags.ts'
import { isOwn } from '../model/current-members.ts'
import { memberLabel } from '../text/display-text.ts'
import { OwnField } from './own-field.tsx'
import { OptionalTextField } from './text-fields.tsx'
import { toTyped } from './typed.ts'

/** The control that the form for a plant has, for a value of many plants. */
export function ValueField({
  member,
  tags,
  placeholder,
  onText,
  ...field
}: {
  readonly member: Member
  readonly text: string | undefined
  readonly isReadOnly: boolean
  readonly problem: string | undefined
  readonly tags: Tags
  /** Of a field for text. */
  readonly placeholder: string
  readonly onText: (text: string | undefined) => void
}) {
  // Another member has another kind of control.
  const key = member.name
  if (isOwn(member)) {
    const onOwnText = (text: string | undefined) =>
      onText(text === undefined ? text : toTyped(member, text))
    return <OwnField {...{ ...field, member, placeholder }} key={key} onText={onOwnText} />
  }
  const suggestions = suggestionsOf(tags)
  return (
    <OptionalTextField
      {...{ ...field, suggestions, onText }}
      key={key}
      label={memberLabel(member)}
      name={member.name}
      none={placeholder}
    />
  )
}
