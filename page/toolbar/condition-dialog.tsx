import { useState } from 'preact/hooks'
import { hasOrder } from '../../core/contract/field-parameters.ts'
import { known } from '../../core/known.ts'
import type { Member } from '../../core/members/members.ts'
import { Dialog } from '../dialog/dialog.tsx'
import { operators } from '../forms/condition-text.ts'
import { MemberChoice } from '../forms/member-choice.tsx'
import { findInvalid } from '../forms/typed.ts'
import { ValueField } from '../forms/value-field.tsx'
import type { Condition } from '../list/field-filter.ts'
import { type Filter, withCondition } from '../list/filter.ts'
import type { Tags } from '../list/use-tags.ts'
import { sharedMembers } from '../model/current-members.ts'

type Kind = Condition['kind']

/** Asks for a condition on the tag or an own field. */
export function ConditionDialog({
  tags,
  filter,
  onFilter,
  onClose,
}: {
  readonly tags: Tags
  readonly filter: Filter
  readonly onFilter: (filter: Filter) => void
  readonly onClose: () => void
}) {
  const members = sharedMembers()
  const [member, setMember] = useState(() => known(members[0]))
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
    if (found === undefined) {
      onFilter(withCondition(filter, { kind, name: member.name }, text ?? ''))
    }
  }
  return (
    <Dialog title="Add a condition" onClose={onClose}>
      <form class="stack" onSubmit={add}>
        {members.length > 1 && (
          <MemberChoice
            {...{ members, member }}
            onMember={(member) => {
              edit(undefined)
              setKind('is')
              setMember(member)
            }}
          />
        )}
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
          <ValueField
            {...{ member, text, problem, tags }}
            placeholder="Value"
            isReadOnly={false}
            onText={edit}
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

function kindsOf({ schema }: Member): readonly Kind[] {
  return schema && hasOrder(schema) ? ['is', 'min', 'max', 'without'] : ['is', 'without']
}

/** What is wrong with the text of a value, as a sentence. */
function findProblem({ name }: Member, text: string | undefined): string | undefined {
  if (text === undefined) return 'Enter or choose a value.'
  return findInvalid({ id: '', name: '', tag: undefined, [name]: text })?.problem
}
