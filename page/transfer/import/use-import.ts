import { useEffect, useState } from 'preact/hooks'
import { readers } from '../../../formats/readers.ts'
import type { Session } from '../../access/session.ts'
import { explain } from '../../errors/error-text.ts'
import { type Mapping, plantMapper } from '../file/columns.ts'
import { FileProblem } from '../file/file-kind.ts'
import type { ImportFile } from '../file/import-file.ts'
import { type ConflictChoice, type Counts, importRecords } from './import-run.ts'
import { RefusedRecords } from './refused-records.ts'

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

/**
 * Imports a file. The import ends with the component.
 *
 * @param onImported called at the end if plants were stored
 */
export function useImport(
  session: Session,
  file: ImportFile,
  mapping: Mapping,
  onConflict: ConflictChoice,
  onImported: () => void,
) {
  const [controller] = useState(() => new AbortController())
  const [refused] = useState(() => new RefusedRecords(mapping, readers[file.format].counted))
  const [counts, setCounts] = useState<Counts>({ created: 0, replaced: 0, unchanged: 0 })
  /** How much of the file has been read. */
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
    let stored = 0
    const run = importRecords(file.records(setBytes), {
      client: session.client,
      canRead: session.canRead,
      toPlant: plantMapper(mapping, file.format),
      onConflict,
      signal,
      onRefused: (refusal) => refused.add(refusal),
      onProgress: (counts) => {
        stored = counts.created + counts.replaced
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
        (error) => setEnd(describeEnd(error, signal, file)),
      )
      .finally(() => {
        session.isImporting = false
        window.removeEventListener('beforeunload', preventDefault)
        if (stored > 0) onImported()
      })
    return () => controller.abort()
  }, [])
  return { counts, refused, bytes, pause, end, cancel: () => controller.abort() }
}

function preventDefault(event: Event): void {
  event.preventDefault()
}

function describeEnd(error: unknown, signal: AbortSignal, { isNumbered }: ImportFile): End {
  const advice = isNumbered
    ? 'Importing the file again would add these plants again, with other ids.'
    : 'Importing the file again is safe.'
  if (signal.aborted) {
    return {
      title: 'Import canceled',
      problem: `What was imported until then is stored, and the batch that was being sent may be too. ${advice}`,
    }
  }
  const problem = error instanceof FileProblem ? error.message : explain(error)
  return { title: 'Import stopped', problem: `${problem} The rows before it were imported.` }
}
