import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Session } from '../access/session.ts'
import type { UndoLog } from '../changes/undo-log.ts'
import type { OnBegin } from '../changes/use-run.ts'
import { useFileDrop } from '../dialog/file-drop.ts'
import { lazyDialog } from '../dialog/lazy-dialog.tsx'
import { describeCondition } from '../drafts/condition-text.ts'
import { conditionsOf } from '../list/field-filter.ts'
import type { Filter } from '../list/filter.ts'
import { usePaste } from './use-paste.ts'
import './transfer.css'

const ImportDialog = lazyDialog(async () => (await import('./dialogs.ts')).ImportDialog)
const ExportDialog = lazyDialog(async () => (await import('./dialogs.ts')).ExportDialog)

/** The toolbar's buttons that import plants and export those that the filter selects. */
export function TransferButtons({
  session,
  log,
  filter,
  onBegin,
  onUndo,
}: {
  readonly session: Session
  readonly log: UndoLog
  readonly filter: Filter
  readonly onBegin?: OnBegin
  /** Takes an operation back. */
  readonly onUndo: (key: number) => void
}) {
  const { canRead, canWrite } = session
  const input = useRef<HTMLInputElement>(null)
  const [dialog, setDialog] = useState<VNode>()
  /** What had the focus before the dialog. */
  const opener = useRef<Element | null>(null)
  const close = () => setDialog(undefined)
  useEffect(() => {
    if (dialog === undefined && opener.current instanceof HTMLElement) opener.current.focus()
  }, [dialog])

  const open = (dialog: VNode) => {
    opener.current = document.activeElement
    setDialog(dialog)
  }
  const openImport = (files: readonly File[]) =>
    open(<ImportDialog {...{ session, log, files, onBegin, onUndo }} onClose={close} />)
  const openExport = () =>
    open(
      <ExportDialog
        client={session.client}
        filter={filter}
        conditions={conditionsOf(filter.filter).map(describeCondition)}
        onClose={close}
      />,
    )
  const canOpen = canWrite && dialog === undefined
  const isOver = useFileDrop(canOpen ? openImport : undefined)
  usePaste(canOpen ? (file) => openImport([file]) : undefined)

  return (
    <>
      {canWrite && (
        <>
          <button type="button" onClick={() => input.current?.click()}>
            Import
          </button>
          <input
            ref={input}
            type="file"
            hidden
            aria-label="File to import"
            onChange={({ currentTarget }) => {
              const files = [...(currentTarget.files ?? [])]
              // Otherwise choosing the same file again would be no change.
              currentTarget.value = ''
              if (files.length > 0) openImport(files)
            }}
          />
        </>
      )}
      {canRead && (
        <button type="button" onClick={openExport}>
          Export
        </button>
      )}
      {isOver && (
        <div class="drop-target" aria-hidden="true">
          <p>Drop an Excel workbook or a CSV, NDJSON or JSON file to import its plants</p>
        </div>
      )}
      {dialog}
    </>
  )
}
