import type { ComponentProps } from 'preact'
import { useEffect } from 'preact/hooks'
import type { Session } from '../access/session.ts'
import { lazy, loadParts } from '../dialog/lazy.tsx'
import type { Drafts, Saver } from '../drafts/drafts.ts'
import type { PlantView } from '../list/plant-view.ts'
import type { Tags } from '../list/use-tags.ts'
import { useModel } from '../model/use-model.ts'

const DraftEditor = lazy((parts) => parts.DraftEditor)
const PlantDetails = lazy((parts) => parts.PlantDetails)
const DraftTray = lazy((parts) => parts.DraftTray)

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
  useModel(view, ({ isOpening }) => isOpening)
  useEffect(() => {
    // After the list, but before a person wants it, who may have lost the connection then.
    if (!view.isOpening) loadParts().catch(() => {})
  }, [view.isOpening])
  const { open } = drafts
  const viewed = find()
  if (open !== undefined) {
    return (
      <aside class="panel surface">
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
    <aside class="panel surface">
      <PlantDetails plant={viewed} onClose={() => onClose(viewed.id)} />
    </aside>
  )
}

/** The changes that are not saved, except the one that is being edited. */
export function UnsavedChanges(props: ComponentProps<typeof DraftTray>) {
  const { drafts } = props
  useModel(drafts, ({ waiting }) => waiting.length > 0)
  return drafts.waiting.length > 0 ? <DraftTray {...props} /> : null
}
