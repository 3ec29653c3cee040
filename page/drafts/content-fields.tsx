import { OwnField } from '../forms/own-field.tsx'
import { OptionalTextField, TextField } from '../forms/text-fields.tsx'
import { textOf, toTyped } from '../forms/typed.ts'
import { suggestionsOf, type Tags } from '../list/use-tags.ts'
import { contentMembers, isOwn, ownMembers } from '../model/current-members.ts'
import { memberLabel } from '../text/display-text.ts'
import type { Draft } from './draft.ts'
import type { Drafts } from './drafts.ts'

/** A field for each member of a plant except the id. */
export function ContentFields({
  drafts,
  draft: { key, typed, state, problem, problemField },
  tags,
}: {
  readonly drafts: Drafts
  readonly draft: Draft
  /** Suggestions. Undefined if the token cannot read. */
  readonly tags: Tags | undefined
}) {
  const propsOf = (name: string) => ({
    text: textOf(typed, name),
    isReadOnly: state === 'sending',
    problem: problemField === name ? problem : undefined,
    onText: (text: string | undefined) => drafts.type(key, { [name]: text }),
  })
  const suggestions = suggestionsOf(tags)
  const base = contentMembers.filter((member) => !isOwn(member))
  return (
    <>
      {base.map((member) => {
        const { text, ...props } = { ...propsOf(member.name), label: memberLabel(member) }
        return member.name === 'tag' ? (
          <OptionalTextField
            key={member.name}
            {...props}
            text={text}
            name="tag"
            none="No tag"
            suggestions={suggestions}
          />
        ) : (
          <TextField key={member.name} {...props} text={text ?? ''} />
        )
      })}
      {ownMembers.length > 0 && (
        <div class="columns">
          {ownMembers.map((member) => {
            const { onText, ...props } = propsOf(member.name)
            return (
              <OwnField
                key={member.name}
                {...props}
                member={member}
                onText={(text) => onText(text === undefined ? text : toTyped(member, text))}
              />
            )
          })}
        </div>
      )}
    </>
  )
}
