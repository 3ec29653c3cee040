import { useEffect, useState } from 'preact/hooks'
import { readers } from '../../formats/readers.ts'
import type { Session } from '../access/session.ts'
import { explain } from '../errors/error-text.ts'
import { formatCount, formatNumber } from '../text/numbers.ts'
import { download } from './download.ts'
import { type Mapping, plantReader } from './file/columns.ts'
import { FileProblem, nounOf } from './file/file-kind.ts'
import type { ImportFile } from './file/import-file.ts'
import { type Counts, importRecords } from './import-run.ts'
import { recordParts } from './record-text.tsx'
import { type PlantFields, RefusedRecords, type ShownRefusal } from './refused-records.ts'
import { TransferDialog } from './transfer-dialog.tsx'

/** Why an import waits for the person, and how it continues. */
interface Pause {
  readonly problem: string
  readonly resume: () => void
}

/** How an import ended, and why if that was early. */
interface End {
  readonly title: string
  readonly problem?: string
}

/** Runs an import, then shows what it did. */
export function ImportProgress({
  session,
  file,
  mapping,
  onImported,
  onClose,
}: {
  readonly session: Session
  readonly file: ImportFile
  readonly mapping: Mapping
  readonly onImported: () => void
  readonly onClose: () => void
}) {
  const [controller] = useState(() => new AbortController())
  const [refused] = useState(() => new RefusedRecords(mapping, readers[file.format].counted))
  const [counts, setCounts] = useState<Counts>({ created: 0, unchanged: 0 })
  const [bytes, setBytes] = useState(0)
  const [pause, setPause] = useState<Pause>()
  const [end, setEnd] = useState<End>()

  useEffect(() => {
    const { signal } = controller
    const waitForPerson = (error: unknown) =>
      new Promise<void>((resolve, reject) => {
        const resume = () => {
          setPause(undefined)
          resolve()
        }
        signal.addEventListener('abort', () => reject(signal.reason))
        setPause({ problem: explain(error), resume })
      })
    let created = 0
    const run = importRecords(file.records(setBytes), {
      client: session.client,
      canRead: session.canRead,
      toPlant: plantReader(mapping, file.format),
      signal,
      onRefused: (refusal) => refused.add(refusal),
      onProgress: (counts) => {
        created = counts.created
        setCounts(counts)
      },
      onFailure: waitForPerson,
    })
    session.isImporting = true
    // Closing the tab would end the import.
    window.addEventListener('beforeunload', preventDefault)
    run
      .then(
        () => setEnd({ title: 'Import finished' }),
        (error) => setEnd(describeEnd(error, signal)),
      )
      .finally(() => {
        session.isImporting = false
        window.removeEventListener('beforeunload', preventDefault)
        if (created > 0) onImported()
      })
    return () => controller.abort()
  }, [])

  const title = end?.title ?? (pause === undefined ? `Importing ${file.name}` : 'Import paused')
  return (
    <TransferDialog title={title} isBusy={end === undefined} onClose={onClose}>
      {end === undefined && <progress aria-label="Progress" value={bytes} max={file.size} />}
      <dl class="counts">
        <Count label="Created" value={counts.created} />
        <Count label="Unchanged" value={counts.unchanged} />
        <Count label="Refused" value={refused.count} isProblem />
      </dl>
      <p class="problem" role="alert">
        {pause?.problem ?? end?.problem}
      </p>
      {end !== undefined && refused.count > 0 && <Refused refused={refused} file={file} />}
      <footer>
        {end === undefined && (
          <button type="button" onClick={() => controller.abort()}>
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
    </TransferDialog>
  )
}

function preventDefault(event: Event): void {
  event.preventDefault()
}

function describeEnd(error: unknown, signal: AbortSignal): End {
  if (signal.aborted) {
    return {
      title: 'Import canceled',
      problem:
        'What was imported until then is stored, and the batch that was being sent may be too. Importing the file again is safe.',
    }
  }
  const problem = error instanceof FileProblem ? error.message : explain(error)
  return { title: 'Import stopped', problem: `${problem} The rows before it were imported.` }
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
            ? formatCount(count, 'refused row')
            : `The first ${shown.length} of ${formatCount(count, 'refused row')}`}
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

function RecordText({ label, fields }: { readonly label: string; readonly fields: PlantFields }) {
  const [id, name, tag] = recordParts(fields)
  return (
    <p>
      <span class="hint">{label}:</span> {id} {name} {tag}
    </p>
  )
}
