import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Mapping } from '../../../core/files/columns.ts'
import { nounOf } from '../../../core/files/plant-file.ts'
import { fieldsOf } from '../../../page/transfer/file/plant-mapper.ts'
import type { Session } from '../../access/session.ts'
import { Dialog } from '../../dialog/dialog.tsx'
import { toFields } from '../../model/current-members.ts'
import { FieldsText } from '../../text/fields-text.tsx'
import { formatCount, formatNumber } from '../../text/numbers.ts'
import type { ImportFile } from '../file/import-file.ts'
import type { Comparison, Fate } from './file-comparison.ts'
import type { ConflictChoice } from './import-run.ts'
import { useComparison } from './use-comparison.ts'

const FATES: readonly Fate[] = ['new', 'different', 'same', 'refused']

/** Compares a file with the store, and shows what its import would do. The person can then start it. */
export function ImportComparison({
  session,
  file,
  mapping,
  onStart,
  onBack,
  onClose,
}: {
  readonly session: Session
  readonly file: ImportFile
  readonly mapping: Mapping
  readonly onStart: (comparison: Comparison, onConflict: ConflictChoice) => void
  readonly onBack: () => void
  readonly onClose: () => void
}) {
  const { bytes, comparison, problem } = useComparison(session, file, mapping)
  const [choice, setChoice] = useState<ConflictChoice>('keep')

  if (problem !== undefined || comparison === undefined) {
    return <Unfinished {...{ file, bytes, problem, onBack, onClose }} />
  }
  const { groups } = comparison
  const start = (event: SubmitEvent) => {
    event.preventDefault()
    onStart(comparison, choice)
  }
  return (
    <Dialog title={`Preview of ${file.name}`} onClose={onClose}>
      <form onSubmit={start}>
        <p class="hint">Nothing is stored yet.</p>
        {!session.canRead && (
          <p class="warning">
            You are not permitted to read plants, so the file was not compared with the stored ones.
          </p>
        )}
        {(!session.canRead || groups.different.count > 0) && (
          <Conflicts {...{ file, comparison, choice, setChoice }} canRead={session.canRead} />
        )}
        <ul class="refused">
          {FATES.filter((fate) => groups[fate].count > 0).map((fate) => (
            <li key={fate}>
              <b>{describeFate(fate, groups[fate].count, choice)}</b>
              <First {...{ comparison, fate, file, mapping }} />
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

/** What happens to rows whose id has a different plant. */
function Conflicts({
  file,
  comparison: { groups, different },
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
  const { first } = groups.different
  const row = first && `${nounOf(file.format).toLowerCase()} ${first.record.number}`
  return (
    <fieldset class="formats">
      <legend>If a different plant has the same id</legend>
      <Option is="keep" label="Keep the stored plant" {...{ choice, setChoice }}>
        The row is not imported.
      </Option>
      {canRead && (
        <Option
          is="replace"
          label="Replace the stored plant"
          isDisabled={different === undefined}
          {...{ choice, setChoice }}
        >
          {different === undefined
            ? 'These are too many for the page. Split the file.'
            : 'It then has what the file has, and nothing else. What somebody changes until then stays.'}
        </Option>
      )}
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
    <label>
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

function describeFate(fate: Fate, count: number, choice: ConflictChoice): string {
  switch (fate) {
    case 'new':
      return formatCount(count, 'new plant')
    case 'different': {
      if (choice === 'replace') return `${formatCount(count, 'plant')} will change`
      const plants = formatCount(count, 'plant')
      return `${plants} ${count === 1 ? 'is' : 'are'} stored with other content, and will stay`
    }
    case 'same':
      return `${formatNumber(count)} already stored, or repeated in the file`
    case 'refused':
      return `${formatCount(count, 'row')} will be refused`
  }
}

/** The first record with a fate, next to the stored plant. */
function First({
  comparison: { groups },
  fate,
  file,
  mapping,
}: {
  readonly comparison: Comparison
  readonly fate: Fate
  readonly file: ImportFile
  readonly mapping: Mapping
}) {
  const { first } = groups[fate]
  if (first === undefined) return null
  const { record, reason, stored } = first
  return (
    <>
      <p>
        {groups[fate].count > 1 && 'The first one: '}
        {nounOf(file.format)} {record.number}
        {reason && `: ${reason}`}
      </p>
      <div class="versions">
        <FieldsText fields={fieldsOf(record, mapping)} label="In the file" />
        {stored !== undefined && <FieldsText fields={toFields(stored)} label="Stored" />}
      </div>
    </>
  )
}
