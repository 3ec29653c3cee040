import { useMemo, useState } from 'preact/hooks'
import type { Session } from '../access/session.ts'
import type { BulkChange } from '../changes/intent.ts'
import { lazyDialog } from '../dialog/lazy-dialog.tsx'
import { toFragment, withFilter } from '../list/filter.ts'
import type { PlantView } from '../list/plant-view.ts'
import type { Tags } from '../list/use-tags.ts'
import { useModel } from '../model/use-model.ts'
import { PlantSelection } from './plant-selection.ts'
import { rangesBetween } from './selected-count.ts'
import { SelectionBar } from './selection-bar.tsx'
import type { Task } from './task.ts'

const ChangeDialog = lazyDialog(async () => (await import('./dialogs.ts')).ChangeDialog)

/**
 * Selects plants, and asks what to do with them.
 *
 * @param onStart called with a change that the person has confirmed
 * @param onFocus called when the focused button disappears
 * @returns the selection (emptied by another filter or order) and `onTask`, which asks about other plants, both undefined if the
 * person cannot change plants; and the elements that show them
 */
export function useBulkChanges({
  session: { client, canWrite },
  view,
  tags,
  onStart,
  onFocus,
}: {
  readonly session: Session
  readonly view: PlantView
  readonly tags: Tags
  readonly onStart: (change: BulkChange) => void
  readonly onFocus: () => void
}) {
  const key = toFragment(withFilter(view.selection, view.selection.filter))
  const selection = useMemo(
    () => new PlantSelection((one, other) => rangesBetween(view.list, one, other)),
    [view, key],
  )
  useModel(selection)
  const [task, setTask] = useState<Task>()
  if (!canWrite) return { selection: undefined, onTask: undefined, tools: null }
  const close = () => {
    setTask(undefined)
    onFocus()
  }
  const start = (change: BulkChange) => {
    if (task?.action === 'delete') selection.clear()
    close()
    onStart(change)
  }
  const tools = (
    <>
      <SelectionBar {...{ view, selection, onFocus }} onTask={setTask} />
      {task && <ChangeDialog {...{ client, tags, task }} onStart={start} onClose={close} />}
    </>
  )
  return { selection, onTask: setTask, tools }
}
