import { useState } from 'preact/hooks'
import type { StoredPlant } from '../../client/client.ts'
import type { Session } from '../access/session.ts'
import type { Saver } from '../drafts/drafts.ts'
import type { PlantView } from '../list/plant-view.ts'
import { labelOf } from '../text/display-text.ts'

/** What a person is told about the latest change, unless the table shows it. */
interface Announcement {
  readonly text: string
  readonly isSeen: boolean
}

const NOTHING: Announcement = { text: '', isSeen: true }

/**
 * Shows and announces the changes that are saved, and remembers the deleted plants.
 *
 * @param focus focuses a plant whose editor has closed
 */
export function useSaver(
  { client, canRead }: Session,
  view: PlantView,
  focus: (id: bigint) => void,
) {
  const [deleted, setDeleted] = useState<readonly StoredPlant[]>([])
  const [announcement, setAnnouncement] = useState(NOTHING)
  const saver: Saver = {
    client,
    canRead,
    onSaved: (change, { draft, wasOpen, isOvertaken }) => {
      if (!isOvertaken) view.apply(change)
      const { isDeletion, before, typed } = draft
      const done = isDeletion ? 'Deleted' : before === undefined ? 'Added' : 'Saved'
      const isSeen = isDeletion || view.list.find(change.id) !== undefined
      setAnnouncement({ text: `${done} ${labelOf(typed)}.`, isSeen })
      if (isDeletion && before) setDeleted((earlier) => [...earlier, before])
      if (wasOpen) focus(change.id)
    },
  }
  return {
    saver,
    deleted,
    setDeleted,
    announcement,
    endAnnouncement: () => setAnnouncement(NOTHING),
  }
}
