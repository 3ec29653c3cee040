import type { RefObject } from 'preact'
import type { PlantStoreClient } from '../../client/client.ts'
import type { Session } from '../access/session.ts'
import type { UndoLog } from '../changes/undo-log.ts'
import type { Drafts } from '../drafts/drafts.ts'
import { isEmpty, type Selection } from '../list/filter.ts'
import { idAfter, suggestId } from '../list/last-plants.ts'
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
  log,
  tags,
  addButton,
  onSelect,
  onUndo,
}: {
  readonly session: Session
  readonly view: PlantView
  readonly drafts: Drafts
  readonly log: UndoLog
  readonly tags: Tags
  readonly addButton: RefObject<HTMLButtonElement | null>
  readonly onSelect: (selection: Selection) => void
  /** Takes an operation back. */
  readonly onUndo: (key: number) => void
}) {
  const { client, canRead, canWrite } = session
  const add = canWrite && (
    <button
      ref={addButton}
      type="button"
      class="primary"
      onClick={async () => drafts.add(canRead ? await textOfFreeId(view, client) : '')}
    >
      <Icon name="add" /> Add plant
    </button>
  )
  if (canRead) {
    return (
      <Toolbar tags={tags} selection={view.selection} onSelect={onSelect}>
        <TransferButtons
          {...{ session, log, onUndo }}
          filter={view.selection.filter}
          onBegin={() => view.pause()}
        />
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
          <TransferButtons {...{ session, log, onUndo }} filter={{}} />
          {add}
        </div>
      )}
    </div>
  )
}

/** The id after the last one, or nothing if that is not known. */
async function textOfFreeId({ list }: PlantView, client: PlantStoreClient): Promise<string> {
  const isWhole = list.isComplete && list.order.sort === undefined && isEmpty(list.filter)
  const id = isWhole ? idAfter(list.end?.id ?? 0n) : await suggestId(client)
  return id === undefined ? '' : String(id)
}
