import { useState } from 'preact/hooks'
import { hasOrder } from '../../core/contract/field-parameters.ts'
import { known } from '../../core/known.ts'
import { Dialog } from '../dialog/dialog.tsx'
import { operators } from '../drafts/condition-text.ts'
import { OwnField } from '../drafts/own-field.tsx'
import { findInvalid, toTyped } from '../drafts/typed.ts'
import { addCondition, type Condition, type FieldFilter } from '../list/field-filter.ts'
import { type OwnMember, ownMembers } from '../model/current-members.ts'
import { MemberChoice } from './member-choice.tsx'

type Kind = Condition['kind']

/** Asks for a condition on an own field. */
export function ConditionDialog({
  filter,
  onFilter,
  onClose,
}: {
  readonly filter: FieldFilter | undefined
  readonly onFilter: (filter: FieldFilter) => void
  readonly onClose: () => void
}) {
  const [member, setMember] = useState(() => known(ownMembers[0]))
  const [kind, setKind] = useState<Kind>('is')
  const [text, setText] = useState<string>()
  const [problem, setProblem] = useState<string>()
  const edit = (text: string | undefined) => {
    setProblem(undefined)
    setText(text)
  }
  const add = (event: SubmitEvent) => {
    event.preventDefault()
    const found = kind === 'without' ? undefined : findProblem(member, text)
    setProblem(found)
    if (found === undefined) onFilter(addCondition(filter, { kind, name: member.name }, text ?? ''))
  }
  return (
    <Dialog title="Add a condition" onClose={onClose}>
      <form class="member-form" onSubmit={add}>
        <MemberChoice
          members={ownMembers}
          member={member}
          onMember={(member) => {
            edit(undefined)
            setKind('is')
            setMember(member)
          }}
        />
        <label class="field">
          Condition
          <select
            value={kind}
            onChange={({ currentTarget: { value } }) => {
              setProblem(undefined)
              setKind(value as Kind)
            }}
          >
            {kindsOf(member).map((each) => (
              <option key={each} value={each}>
                {operators[each]}
              </option>
            ))}
          </select>
        </label>
        {kind !== 'without' && (
          <OwnField
            key={member.name}
            {...{ member, text, problem }}
            isReadOnly={false}
            onText={(text) => edit(text === undefined ? text : toTyped(member, text))}
          />
        )}
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary">
            Add
          </button>
        </footer>
      </form>
    </Dialog>
  )
}

function kindsOf({ schema }: OwnMember): readonly Kind[] {
  return hasOrder(schema) ? ['is', 'min', 'max', 'without'] : ['is', 'without']
}

/** What is wrong with the text of a value, as a sentence. */
function findProblem({ name }: OwnMember, text: string | undefined): string | undefined {
  if (text === undefined) return 'Enter or choose a value.'
  return findInvalid({ id: '', name: '', tag: undefined, [name]: text })?.problem
}
