import { useState } from 'preact/hooks'
import type { Session } from '../access/session.ts'
import { ChangeProgress, type ProgressProps, UndoProgress } from '../changes/change-progress.tsx'
import type { BulkChange } from '../changes/intent.ts'
import type { Operation } from '../changes/undo-log.ts'
import type { Filter } from '../list/filter.ts'
import type { Tags } from '../list/use-tags.ts'
import { ChangeDialog } from './change-dialog.tsx'
import type { IdRanges } from './id-ranges.ts'

/** What a person wants to do with the plants of a filter whose ids are in some ranges. */
export interface PlantsTask {
  /** `rename` gives all plants with a tag another one. */
  readonly action: 'change' | 'delete' | 'rename'
  readonly filter: Filter
  readonly ranges: IdRanges
}

/** What a person wants to do with many plants. */
export type Task = PlantsTask | { readonly action: 'undo'; readonly operation: Operation }

/** Asks for what the task lacks, carries it out, and shows what became of it. */
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
