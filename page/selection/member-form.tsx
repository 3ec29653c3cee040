import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { StoredPlant } from '../../client/client.ts'
import { known } from '../../core/known.ts'
import type { BulkChange } from '../changes/intent.ts'
import { MemberChoice } from '../forms/member-choice.tsx'
import { ValueField } from '../forms/value-field.tsx'
import type { Tags } from '../list/use-tags.ts'
import { isOwn, sharedMembers } from '../model/current-members.ts'
import { formatCount, formatNumber } from '../text/intl.ts'
import { setMember } from './selected-changes.ts'

/** Asks for a value, or none, of a member of plants. */
export function MemberForm({
  plants,
  renamed,
  tags,
  onStart,
  onClose,
  children,
}: {
  readonly plants: readonly StoredPlant[]
  /** A tag that all of them have, and that is to be another one. Undefined to choose the member. */
  readonly renamed: string | undefined
  readonly tags: Tags
  readonly onStart: (change: BulkChange) => void
  readonly onClose: () => void
  readonly children: ComponentChildren
}) {
  const members = sharedMembers().filter((member) => renamed === undefined || !isOwn(member))
  const [member, setMemberToSet] = useState(() => known(members[0]))
  const [text, setText] = useState(renamed)
  const [isRemoval, setRemoval] = useState(false)
  const [problem, setProblem] = useState<string>()
  const form = useRef<HTMLFormElement>(null)
  const change = useMemo(() => {
    if (isRemoval) return setMember(plants, member, undefined)
    if (text === undefined) return 'Enter or choose a value, or select “No value”.'
    return setMember(plants, member, text)
  }, [plants, member, text, isRemoval])
  const count = typeof change === 'string' ? plants.length : change.intents.length
  useEffect(() => {
    if (problem !== undefined) {
      form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
    }
  }, [problem])
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault()
    if (typeof change === 'string') setProblem(change)
    else onStart(change)
  }
  const edit = (text: string | undefined) => {
    setProblem(undefined)
    setText(text)
  }
  return (
    <form ref={form} class="stack" onSubmit={onSubmit}>
      {children}
      {members.length > 1 && (
        <MemberChoice
          {...{ members, member }}
          onMember={(member) => {
            edit(undefined)
            setMemberToSet(member)
          }}
        />
      )}
      <ValueField
        {...{ member, text, problem, tags }}
        placeholder="New value"
        isReadOnly={isRemoval}
        onText={edit}
      />
      <label class="row">
        <input
          type="checkbox"
          checked={isRemoval}
          onChange={({ currentTarget: { checked } }) => {
            setProblem(undefined)
            setRemoval(checked)
          }}
        />
        No value
      </label>
      <p role="status">{typeof change !== 'string' && describeEffect(count, plants.length)}</p>
      <footer>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" class="primary" disabled={count === 0}>
          Change {formatCount(count, 'plant')}
        </button>
      </footer>
    </form>
  )
}

/** How many plants would change, and how many are like that already. */
function describeEffect(changed: number, all: number): string {
  const same = all - changed
  if (changed === 0) return 'All of them have this value already.'
  const effect = `${formatCount(changed, 'plant')} would change.`
  if (same === 0) return effect
  return `${effect} ${formatNumber(same)} ${same === 1 ? 'has' : 'have'} this value already.`
}
