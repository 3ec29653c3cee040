import { useState } from 'preact/hooks'
import type { Session } from '../access/session.ts'
import { ChangeProgress, type ProgressProps, UndoProgress } from '../changes/change-progress.tsx'
import type { BulkChange } from '../changes/intent.ts'
import type { Tags } from '../list/use-tags.ts'
import { ChangeDialog } from './change-dialog.tsx'
import type { Task } from './task.ts'

/** Asks for the details of a task, carries it out, and shows what could not be done. */
export function TaskDialog({
  task,
  tags,
  onUndo,
  ...progress
}: ProgressProps & {
  readonly task: Task
  readonly session: Session
  /** Suggestions. */
  readonly tags: Tags
  /** Takes an operation back. */
  readonly onUndo: (key: number) => void
}) {
  const [change, setChange] = useState<BulkChange>()
  if (task.action === 'undo') return <UndoProgress {...progress} operation={task.operation} />
  if (change !== undefined) return <ChangeProgress {...progress} {...{ change, onUndo }} />
  const { session, onClose } = progress
  return <ChangeDialog client={session.client} {...{ task, tags, onClose }} onStart={setChange} />
}
