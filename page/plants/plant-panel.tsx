import type { Session } from '../access/session.ts'
import { DraftEditor } from '../drafts/draft-editor.tsx'
import type { Drafts, Saver } from '../drafts/drafts.ts'
import type { PlantView } from '../list/plant-view.ts'
import type { Tags } from '../list/use-tags.ts'
import { useModel } from '../model/use-model.ts'
import { PlantDetails } from './plant-details.tsx'

/** The plant that is being edited or viewed, beside the table, or above its lower half on a phone. */
export function PlantPanel({
  session: { canRead },
  view,
  drafts,
  saver,
  tags,
  viewedId,
  onClose,
}: {
  readonly session: Session
  readonly view: PlantView
  readonly drafts: Drafts
  readonly saver: Saver
  readonly tags: Tags
  /** The plant to view, for those who cannot edit it. */
  readonly viewedId: bigint | undefined
  /** Called with the plant that was shown, unless it was to be added. */
  readonly onClose: (id?: bigint) => void
}) {
  const find = () => (viewedId === undefined ? undefined : view.list.find(viewedId))
  useModel(drafts, ({ open }) => open)
  useModel(view, find)
  const { open } = drafts
  const viewed = find()
  if (open !== undefined) {
    return (
      <aside class="panel">
        <DraftEditor
          key={open.key}
          {...{ drafts, saver }}
          draft={open}
          tags={canRead ? tags : undefined}
          onClose={() => onClose(open.before?.id)}
        />
      </aside>
    )
  }
  if (viewed === undefined) return null
  return (
    <aside class="panel">
      <PlantDetails plant={viewed} onClose={() => onClose(viewed.id)} />
    </aside>
  )
}
