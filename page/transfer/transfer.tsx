import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Session } from '../access/session.ts'
import { useFileDrop } from './file-drop.ts'
import './transfer.css'

/** The plants that the table shows. An empty tag is a tag. */
export interface TransferFilter {
  readonly tag?: string
  readonly q?: string
}

/** The toolbar's buttons that import plants and export those that the filter selects. */
export function TransferButtons({
  session,
  filter,
  onImported = () => {},
}: {
  readonly session: Session
  readonly filter: TransferFilter
  /** Called once plants have been imported. */
  readonly onImported?: () => void
}) {
  const { canRead, canWrite } = session
  const input = useRef<HTMLInputElement>(null)
  const [dialog, setDialog] = useState<VNode>()
  const [problem, setProblem] = useState<string>()
  /** What had the focus before the dialog. */
  const opener = useRef<Element | null>(null)
  const close = () => setDialog(undefined)
  useEffect(() => {
    if (dialog === undefined && opener.current instanceof HTMLElement) opener.current.focus()
  }, [dialog])

  /** Opens a dialog. Its code is loaded now, because few visits need it. */
  const open = async (load: () => Promise<VNode>) => {
    opener.current = document.activeElement
    try {
      setDialog(await load())
      setProblem(undefined)
    } catch {
      setProblem('A part of this page cannot be loaded. Reload the page.')
    }
  }
  const openImport = (files: readonly File[]) =>
    open(async () => {
      const { ImportDialog } = await import('./import-dialog.tsx')
      const properties = { session, files, onImported, onClose: close }
      return <ImportDialog {...properties} />
    })
  const openExport = () =>
    open(async () => {
      const { ExportDialog } = await import('./export-dialog.tsx')
      return <ExportDialog client={session.client} filter={filter} onClose={close} />
    })
  const isOver = useFileDrop(canWrite && dialog === undefined ? openImport : undefined)

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
      {problem !== undefined && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {isOver && (
        <div class="drop-target" aria-hidden="true">
          <p>Drop a CSV, NDJSON or JSON file to import its plants</p>
        </div>
      )}
      {dialog}
    </>
  )
}
