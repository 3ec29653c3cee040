import { useState } from 'preact/hooks'
import type { Mapping } from '../../../core/files/columns.ts'
import { FileProblem } from '../../../core/files/file-kind.ts'
import { counted } from '../../../core/files/formats.ts'
import { nounOf } from '../../../core/files/plant-file.ts'
import { fieldsOf, plantMapper } from '../../../page/transfer/file/plant-mapper.ts'
import type { Session } from '../../access/session.ts'
import { RefusedPlants } from '../../changes/refused-plants.ts'
import { RunDialog } from '../../changes/run-dialog.tsx'
import type { UndoLog } from '../../changes/undo-log.ts'
import { useRun } from '../../changes/use-run.ts'
import { explain } from '../../errors/error-text.ts'
import type { ImportFile } from '../file/import-file.ts'
import type { Comparison } from './file-comparison.ts'
import { type ConflictChoice, importRecords } from './import-run.ts'

/** Where plants are imported, and what happens then. */
export interface ImportTarget {
  readonly session: Session
  readonly log: UndoLog
  /** Called once plants have been imported. */
  readonly onImported: () => void
  readonly onClose: () => void
  /** Takes an operation back. */
  readonly onUndo: (key: number) => void
}

/** Runs an import, then shows what it did. */
export function ImportProgress({
  session,
  log,
  file,
  mapping,
  comparison,
  onConflict,
  onImported,
  onClose,
  onUndo,
}: ImportTarget & {
  readonly file: ImportFile
  readonly mapping: Mapping
  readonly comparison: Comparison
  readonly onConflict: ConflictChoice
}) {
  const { name, size, format, isNumbered } = file
  const [refused] = useState(() => new RefusedPlants(counted[format]))
  const [operation] = useState(() => log.begin('Imported', name))
  /** How much of the file has been read. */
  const [bytes, setBytes] = useState(0)
  const advice = isNumbered
    ? 'Importing the file again would add these plants again, with other ids.'
    : 'Importing the file again is safe.'
  const run = useRun(
    session,
    `The import has stopped. ${advice}`,
    (controls) =>
      importRecords(file.records(setBytes), {
        ...controls,
        toPlant: plantMapper(mapping, format),
        onConflict,
        seen: comparison,
        onChanged: (undo, unknown) => log.add(operation, undo, unknown),
        onRefused: ({ record, ...rest }) =>
          refused.add({ number: record.number, fields: fieldsOf(record, mapping), ...rest }),
      }),
    {
      explainEnd: (error) => {
        const problem = error instanceof FileProblem ? error.message : explain(error)
        return `${problem} The rows before it were imported.`
      },
      onEnd: onImported,
    },
  )
  const undo = () => {
    onClose()
    onUndo(operation)
  }
  const canUndo = session.canRead && log.find(operation)?.count
  return (
    <RunDialog
      words={{
        title: `Importing ${name}`,
        noun: 'Import',
        counts: [
          ['created', 'Created'],
          ...(onConflict === 'replace' ? [['changed', 'Replaced'] as const] : []),
          ['unchanged', 'Unchanged'],
        ],
        refused: 'not imported',
        item: 'row',
        wanted: 'In the file',
        place: nounOf(format),
        canceled: `What was imported until then is stored, and the batch that was being sent may be too. ${advice}`,
        file: name.replace(/\.\w+$/, ''),
      }}
      progress={{ value: bytes, max: size }}
      onUndo={canUndo ? undo : undefined}
      {...{ run, refused, onClose }}
    />
  )
}
