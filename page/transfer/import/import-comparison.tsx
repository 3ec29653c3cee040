import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { columnsOf, type Mapping } from '../../../core/files/columns.ts'
import { counted } from '../../../core/files/formats.ts'
import type { Session } from '../../access/session.ts'
import { Dialog } from '../../dialog/dialog.tsx'
import { contentMembers } from '../../model/current-members.ts'
import { formatCount, formatNumber } from '../../text/intl.ts'
import type { ImportFile } from '../file/import-file.ts'
import type { Comparison, Fate, Group, Outcome } from './file-comparison.ts'
import { Examples } from './import-examples.tsx'
import { type ConflictChoice, outcomeOf } from './import-run.ts'
import { type ComparedFile, type MappedFile, useComparison } from './use-comparison.ts'

const FATES: readonly Fate[] = ['new', 'different', 'same', 'refused']

/** Compares a file with the store, and shows what its import would do. The person can then start it. */
export function ImportComparison({
  session,
  mapped,
  onStart,
  onBack,
  onClose,
}: {
  readonly session: Session
  readonly mapped: MappedFile
  readonly onStart: (compared: ComparedFile, onConflict: ConflictChoice) => void
  readonly onBack: () => void
  readonly onClose: () => void
}) {
  const { bytes, compared, problem } = useComparison(session, mapped)
  const [chosen, setChoice] = useState<ConflictChoice>()

  if (problem !== undefined || compared === undefined) {
    return <Unfinished file={mapped.source} {...{ bytes, problem, onBack, onClose }} />
  }
  const { file, mapping, comparison, damage } = compared
  const { canRead } = session
  const choice = chosen ?? suggestChoice(comparison, mapping, canRead)
  const outcome = outcomeOf(comparison, choice)
  const { groups } = outcome
  const hasConflicts = [comparison.whole, comparison.update].some(
    (each) => each.groups.different.count > 0,
  )
  const start = (event: SubmitEvent) => {
    event.preventDefault()
    onStart(compared, choice)
  }
  return (
    <Dialog title={`Preview of ${file.name}`} onClose={onClose}>
      <form onSubmit={start}>
        <p class="hint">Nothing is stored yet.</p>
        {!canRead && (
          <p class="warning">
            You are not permitted to read plants, so the file was not compared with the stored ones.
          </p>
        )}
        {damage.map((sentence) => (
          <p key={sentence} class="warning">
            {sentence}
          </p>
        ))}
        {(!canRead || hasConflicts) && (
          <Conflicts {...{ file, comparison, choice, setChoice, canRead }} />
        )}
        <ul class="refused surface">
          {FATES.filter((fate) => groups[fate].count > 0).map((fate) => (
            <li key={fate}>
              <b>{describeFate(fate, outcome, choice)}</b>
              <Examples
                key={choice}
                group={groups[fate]}
                {...{ fate, file, mapping }}
                isUpdate={choice === 'update'}
              />
            </li>
          ))}
        </ul>
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="button" onClick={onBack}>
            Back
          </button>
          <button type="submit" class="primary">
            Import
          </button>
        </footer>
      </form>
    </Dialog>
  )
}

/** A file that lacks columns was probably made to change those that it has. */
function suggestChoice(
  { different }: Comparison,
  mapping: Mapping,
  canRead: boolean,
): ConflictChoice {
  const lacksColumns = contentMembers.some(({ name }) => columnsOf(mapping, name).length === 0)
  return canRead && lacksColumns && different !== undefined ? 'update' : 'keep'
}

/** A comparison that runs or has failed. */
function Unfinished({
  file,
  bytes,
  problem,
  onBack,
  onClose,
}: {
  readonly file: ImportFile
  readonly bytes: number
  readonly problem: string | undefined
  readonly onBack: () => void
  readonly onClose: () => void
}) {
  const isFailed = problem !== undefined
  return (
    <Dialog title={isFailed ? 'Nothing was imported' : `Comparing ${file.name}`} onClose={onClose}>
      {!isFailed && (
        <progress aria-label="Comparing with the stored plants" value={bytes} max={file.size} />
      )}
      <p class="problem" role="alert">
        {problem}
      </p>
      <footer>
        <button type="button" onClick={onClose}>
          {isFailed ? 'Close' : 'Cancel'}
        </button>
        {isFailed && (
          <button type="button" class="primary" onClick={onBack}>
            Back
          </button>
        )}
      </footer>
    </Dialog>
  )
}

const CHANGES = [
  {
    is: 'update',
    label: 'Update the stored plant',
    hint: 'It keeps what the file has no column for. An empty cell removes the value.',
  },
  {
    is: 'replace',
    label: 'Replace the stored plant',
    hint: 'It then has what the file has, and nothing else. What somebody changes until then stays.',
  },
] as const

/** What happens to rows whose plant is stored with other content. */
function Conflicts({
  file,
  comparison: { whole, different },
  canRead,
  choice,
  setChoice,
}: {
  readonly file: ImportFile
  readonly comparison: Comparison
  readonly canRead: boolean
  readonly choice: ConflictChoice
  readonly setChoice: (choice: ConflictChoice) => void
}) {
  const [first] = whole.groups.different.examples
  const row = first && `${counted[file.format]} ${first.record.number}`
  return (
    <fieldset class="stack">
      <legend>If a stored plant differs</legend>
      {canRead &&
        CHANGES.map(({ is, label, hint }) => (
          <Option
            key={is}
            isDisabled={different === undefined}
            {...{ is, label, choice, setChoice }}
          >
            {different === undefined
              ? 'Too many plants differ for this page. Split the file.'
              : hint}
          </Option>
        ))}
      <Option is="keep" label="Keep the stored plant" {...{ choice, setChoice }}>
        The row is not imported.
      </Option>
      <Option is="stop" label="Stop the import" {...{ choice, setChoice }}>
        {row === undefined
          ? 'The rows before it are imported.'
          : `Only the rows before ${row} are imported.`}
      </Option>
    </fieldset>
  )
}

function Option({
  is,
  label,
  choice,
  setChoice,
  isDisabled = false,
  children,
}: {
  readonly is: ConflictChoice
  readonly label: string
  readonly choice: ConflictChoice
  readonly setChoice: (choice: ConflictChoice) => void
  readonly isDisabled?: boolean
  readonly children: ComponentChildren
}) {
  return (
    <label class="format row">
      <input
        type="radio"
        name="conflict"
        checked={is === choice}
        disabled={isDisabled}
        onChange={() => setChoice(is)}
      />
      <span>
        <b>{label}</b> <span class="hint">{children}</span>
      </span>
    </label>
  )
}

function describeFate(fate: Fate, { groups, removed }: Outcome, choice: ConflictChoice): string {
  const { count }: Group = groups[fate]
  switch (fate) {
    case 'new':
      return formatCount(count, 'new plant')
    case 'different': {
      const plants = formatCount(count, 'plant')
      if (choice === 'replace' || choice === 'update') {
        const lost = removed === 0 ? '' : `, and ${formatCount(removed, 'value')} will be removed`
        return `${plants} will change${lost}`
      }
      return `${plants} ${count === 1 ? 'is' : 'are'} stored with other content, and will stay`
    }
    case 'same':
      return `${formatNumber(count)} already stored, or repeated in the file`
    case 'refused':
      return `${formatCount(count, 'row')} will be refused`
  }
}
