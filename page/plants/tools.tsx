import type { RefObject } from 'preact'
import type { Session } from '../access/session.ts'
import type { Drafts } from '../drafts/drafts.ts'
import type { Selection } from '../list/filter.ts'
import { parseId } from '../list/plant-id.ts'
import type { PlantView } from '../list/plant-view.ts'
import type { Tags } from '../list/use-tags.ts'
import { Icon } from '../text/icon.tsx'
import { TransferButtons } from '../transfer/transfer.tsx'
import { Toolbar } from './toolbar.tsx'

/** The toolbar. Without the right to read plants, only what the person can do in its place. */
export function Tools({
  session,
  view,
  drafts,
  tags,
  addButton,
  onSelect,
}: {
  readonly session: Session
  readonly view: PlantView
  readonly drafts: Drafts
  readonly tags: Tags
  readonly addButton: RefObject<HTMLButtonElement | null>
  readonly onSelect: (selection: Selection) => void
}) {
  const { canRead, canWrite } = session
  const add = canWrite && (
    <button
      ref={addButton}
      type="button"
      class="primary"
      onClick={() => drafts.add(canRead ? suggestId(view) : '')}
    >
      <Icon name="add" /> Add plant
    </button>
  )
  if (canRead) {
    const reload = () => {
      if (view.feed.state !== 'live') view.reload()
    }
    return (
      <Toolbar tags={tags} selection={view.selection} onSelect={onSelect}>
        <TransferButtons session={session} filter={view.selection.filter} onImported={reload} />
        {add}
      </Toolbar>
    )
  }
  return (
    <div class="empty">
      <img src="page/icon.svg" alt="" width="72" height="72" />
      <h2>{canWrite ? 'Add plants' : 'No access'}</h2>
      <p>
        {canWrite
          ? 'You are not permitted to read plants. You can only add them.'
          : 'You are not permitted to read or change plants. Ask the operator of this service for access.'}
      </p>
      {canWrite && (
        <div class="buttons">
          <TransferButtons session={session} filter={{}} />
          {add}
        </div>
      )}
    </div>
  )
}

/** The id after the last one, or nothing if that is not known. */
function suggestId({ list, selection: { filter } }: PlantView): string {
  if (!list.isComplete || filter.q !== undefined || filter.tag !== undefined) return ''
  const next = String((list.end ?? 0n) + 1n)
  return parseId(next) === undefined ? '' : next
}
