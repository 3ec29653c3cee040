import { useState } from 'preact/hooks'
import { DraftEditor } from '../drafts/draft-editor.tsx'
import type { Drafts, Saver } from '../drafts/drafts.ts'
import type { PlantView } from '../list/plant-view.ts'
import type { Tags } from '../list/use-tags.ts'
import { PlantDetails } from './plant-details.tsx'

/**
 * The editor or the details of a plant, in place of its row.
 *
 * @param tags undefined if the person cannot read them
 * @param focus focuses a plant
 * @returns the row, or the panel with an editor whose plant has none
 */
export function useExpanded(
  view: PlantView,
  drafts: Drafts,
  saver: Saver,
  tags: Tags | undefined,
  focus: (id?: bigint) => void,
) {
  const [viewedId, show] = useState<bigint>()
  const draft = drafts.open
  const edited = draft?.before && view.list.find(draft.before.id)
  const viewed = viewedId === undefined ? undefined : view.list.find(viewedId)
  const editor = draft && (
    <DraftEditor
      key={draft.key}
      {...{ drafts, draft, saver, tags }}
      onClose={() => focus(draft.before?.id)}
    />
  )
  const close = () => {
    show(undefined)
    focus(viewedId)
  }
  const details = viewed && {
    id: viewed.id,
    content: <PlantDetails plant={viewed} onClose={close} />,
  }
  return {
    expanded: edited ? { id: edited.id, content: editor } : details,
    panel: editor && !edited && <div class="panel">{editor}</div>,
    show,
  }
}
