import type { Session } from '../access/session.ts'
import type { UndoLog } from '../changes/undo-log.ts'
import { loadParts } from '../dialog/lazy.tsx'
import type { Saver } from '../drafts/drafts.ts'
import type { PlantView } from '../list/plant-view.ts'
import { labelOf } from '../text/display-text.ts'

/**
 * Sends changes, and shows, announces and logs those that are saved.
 *
 * @param focus focuses a plant whose editor has closed, or the button that adds one
 */
export function createSaver(
  { client, canRead }: Session,
  view: PlantView,
  log: UndoLog,
  focus: (target: bigint | 'add') => void,
): Saver {
  return {
    save: async (intent, isUncertain) => {
      const { save } = await loadParts()
      return save(client, intent, canRead, isUncertain)
    },
    onSaved: (change, { draft, undo, wasOpen, isOvertaken }) => {
      if (!isOvertaken) view.apply(change)
      const { isDeletion, before, typed, isUndo } = draft
      const done = isDeletion ? 'Deleted' : before === undefined ? 'Added' : 'Saved'
      const label = labelOf(typed)
      const added = isDeletion || before !== undefined || !canRead ? undefined : change.id
      const operation = undo && !isUndo ? log.begin(done, label) : undefined
      log.announce({ title: isUndo ? 'Undone:' : done, label, added, operation })
      if (undo && operation !== undefined) log.add(operation, [undo])
      // The table stays where it is when a plant is added.
      if (wasOpen) focus(before === undefined ? 'add' : change.id)
    },
  }
}
