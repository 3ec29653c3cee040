import { useState } from 'preact/hooks'
import { FileProblem } from '../../../core/files/file-kind.ts'
import { nounOf } from '../../../core/files/plant-file.ts'
import type { Session } from '../../access/session.ts'
import { RunDialog } from '../../changes/run-dialog.tsx'
import type { UndoLog } from '../../changes/undo-log.ts'
import { type OnBegin, useRun } from '../../changes/use-run.ts'
import { explain } from '../../errors/error-text.ts'
import { fieldsOf, rowReader } from '../file/plant-mapper.ts'
import { refusedOf } from './import-examples.tsx'
import { type ConflictChoice, importRecords, outcomeOf } from './import-run.ts'
import type { ComparedFile } from './use-comparison.ts'

const CHANGED: { readonly [Each in ConflictChoice]?: string } = {
  replace: 'Replaced',
  update: 'Updated',
}

/** Where plants are imported, and what happens then. */
export interface ImportTarget {
  readonly session: Session
  readonly log: UndoLog
  readonly onBegin?: OnBegin | undefined
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
  onBegin,
  onClose,
  onUndo,
}: ImportTarget & ComparedFile & { readonly onConflict: ConflictChoice }) {
  const { name, size, format, isNumbered } = file
  const changed = CHANGED[onConflict]
  const [refused] = useState(() => refusedOf(file, mapping))
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
        read: rowReader(mapping, format),
        onConflict,
        seen: { different: comparison.different, same: outcomeOf(comparison, onConflict).same },
        chosen: file.chosen,
        onChanged: (undo, unknown) => log.add(operation, undo, unknown),
        onRefused: ({ record, ...rest }) =>
          refused.add({ number: record.number, fields: fieldsOf(record, mapping), ...rest }),
      }),
    {
      explainEnd: (error) => {
        const problem = error instanceof FileProblem ? error.message : explain(error)
        return `${problem} The rows before it were imported.`
      },
      onBegin,
      onFinished: ({ created, changed, unchanged }) => {
        if (refused.count > 0) return
        const count = created + changed
        log.announce({ title: 'Imported', label: name, count, unchanged, operation })
        onClose()
      },
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
          ...(changed === undefined ? [] : [['changed', changed] as const]),
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
