import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Session } from '../access/session.ts'
import type { UndoLog } from '../changes/undo-log.ts'
import type { OnBegin } from '../changes/use-run.ts'
import { useFileDrop } from '../dialog/file-drop.ts'
import { lazyDialog } from '../dialog/lazy.tsx'
import { describeCondition } from '../forms/condition-text.ts'
import { conditionsOf } from '../list/field-filter.ts'
import type { Filter } from '../list/filter.ts'
import { usePaste } from './use-paste.ts'

const ImportDialog = lazyDialog((parts) => parts.ImportDialog)
const ExportDialog = lazyDialog((parts) => parts.ExportDialog)

/** Imports plants, also from files that are dropped or text that is pasted, and exports those that the filter selects. */
export function useTransfer({
  session,
  log,
  filter,
  onBegin,
  onUndo,
}: {
  readonly session: Session
  readonly log: UndoLog
  readonly filter: Filter
  readonly onBegin: OnBegin | undefined
  /** Takes an operation back. */
  readonly onUndo: (key: number) => void
}) {
  const { canWrite } = session
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

  const elements = (
    <>
      {canWrite && (
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
      )}
      {isOver && (
        <div class="drop-target" aria-hidden="true">
          <p>Drop an Excel workbook or a CSV, NDJSON or JSON file to import its plants</p>
        </div>
      )}
      {dialog}
    </>
  )
  return { openFile: () => input.current?.click(), openExport, elements }
}
