import type { Session } from '../../access/session.ts'
import { Dialog } from '../../dialog/dialog.tsx'
import { download } from '../../dialog/download.ts'
import { formatCount, formatNumber } from '../../text/numbers.ts'
import type { Mapping } from '../file/columns.ts'
import { nounOf } from '../file/file-kind.ts'
import type { ImportFile } from '../file/import-file.ts'
import type { ConflictChoice } from './import-run.ts'
import { RecordText } from './record-text.tsx'
import type { RefusedRecords, ShownRefusal } from './refused-records.ts'
import { useImport } from './use-import.ts'

/** Runs an import, then shows what it did. */
export function ImportProgress({
  session,
  file,
  mapping,
  onConflict,
  onImported,
  onClose,
}: {
  readonly session: Session
  readonly file: ImportFile
  readonly mapping: Mapping
  readonly onConflict: ConflictChoice
  readonly onImported: () => void
  readonly onClose: () => void
}) {
  const { counts, refused, bytes, pause, end, cancel } = useImport(
    session,
    file,
    mapping,
    onConflict,
    onImported,
  )
  const title = end?.title ?? (pause === undefined ? `Importing ${file.name}` : 'Import paused')
  return (
    <Dialog title={title} isBusy={end === undefined} onClose={onClose}>
      {end === undefined && <progress aria-label="Progress" value={bytes} max={file.size} />}
      <dl class="counts">
        <Count label="Created" value={counts.created} />
        {onConflict.is === 'replace' && <Count label="Replaced" value={counts.replaced} />}
        <Count label="Unchanged" value={counts.unchanged} />
        <Count label="Not imported" value={refused.count} isProblem />
      </dl>
      <p class="problem" role="alert">
        {pause?.problem ?? end?.problem}
      </p>
      {end !== undefined && refused.count > 0 && <Refused refused={refused} file={file} />}
      <footer>
        {end === undefined && (
          <button type="button" onClick={cancel}>
            Cancel
          </button>
        )}
        {pause !== undefined && end === undefined && (
          <button type="button" class="primary" onClick={pause.resume}>
            Continue
          </button>
        )}
        {end !== undefined && (
          <button type="button" class="primary" onClick={onClose}>
            Close
          </button>
        )}
      </footer>
    </Dialog>
  )
}

function Count({
  label,
  value,
  isProblem = false,
}: {
  readonly label: string
  readonly value: number
  readonly isProblem?: boolean
}) {
  return (
    <div class={isProblem && value > 0 ? 'problem' : ''}>
      <dt>{label}</dt>
      <dd>{formatNumber(value)}</dd>
    </div>
  )
}

/** The first refused records, and all of them as a file. */
function Refused({
  refused,
  file: { name, format },
}: {
  readonly refused: RefusedRecords
  readonly file: ImportFile
}) {
  const { shown, count } = refused
  const save = () => download(refused.toFile(), `${name.replace(/\.\w+$/, '')}-refused.csv`)
  return (
    <section>
      <header>
        <h3>
          {shown.length === count
            ? `${formatCount(count, 'row')} not imported`
            : `The first ${shown.length} of ${formatCount(count, 'row')} not imported`}
        </h3>
        <button type="button" onClick={save}>
          Download
        </button>
      </header>
      <ul class="refused">
        {shown.toSorted(byNumber).map(({ number, reason, fields, storedFields }) => (
          <li key={number}>
            <b>
              {nounOf(format)} {number}: {reason}
            </b>
            <RecordText fields={fields} label="In the file" />
            {storedFields !== undefined && <RecordText fields={storedFields} label="Stored" />}
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Conflicts are found after other problems. */
function byNumber(one: ShownRefusal, other: ShownRefusal): number {
  return one.number - other.number
}
