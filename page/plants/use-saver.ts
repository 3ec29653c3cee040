import { useState } from 'preact/hooks'
import type { Session } from '../access/session.ts'
import type { UndoLog } from '../changes/undo-log.ts'
import type { Saver } from '../drafts/drafts.ts'
import type { PlantView } from '../list/plant-view.ts'
import { labelOf } from '../text/display-text.ts'

/** What a person is told about the latest change, unless the table shows it. */
interface Announcement {
  readonly text: string
  readonly isSeen: boolean
  /** The id of a plant that was added. */
  readonly added?: bigint | undefined
}

const NOTHING: Announcement = { text: '', isSeen: true }

/**
 * Shows, announces and logs the changes that are saved.
 *
 * @param focus focuses a plant whose editor has closed, or the button that adds one
 */
export function useSaver(
  { client, canRead }: Session,
  view: PlantView,
  log: UndoLog,
  focus: (target: bigint | 'add') => void,
) {
  const [announcement, setAnnouncement] = useState(NOTHING)
  const saver: Saver = {
    client,
    canRead,
    onSaved: (change, { draft, undo, wasOpen, isOvertaken }) => {
      if (!isOvertaken) view.apply(change)
      const { isDeletion, before, typed, isUndo } = draft
      const done = isDeletion ? 'Deleted' : before === undefined ? 'Added' : 'Saved'
      const added = isDeletion || before !== undefined || !canRead ? undefined : change.id
      const isSeen = isDeletion || (added === undefined && view.list.find(change.id) !== undefined)
      setAnnouncement({ text: `${done} ${labelOf(typed)}.`, isSeen, added })
      if (undo && !isUndo) log.add(log.begin(done, labelOf(typed)), [undo])
      // The table stays where it is when a plant is added.
      if (wasOpen) focus(before === undefined ? 'add' : change.id)
    },
  }
  return {
    saver,
    announcement,
    endAnnouncement: () => setAnnouncement(NOTHING),
  }
}
