import type { RefObject } from 'preact'
import type { PlantStoreClient } from '../../client/client.ts'
import type { Session } from '../access/session.ts'
import type { UndoLog } from '../changes/undo-log.ts'
import type { Drafts } from '../drafts/drafts.ts'
import { isEmpty, type Selection } from '../list/filter.ts'
import { findLastPlants } from '../list/last-plants.ts'
import { parseId } from '../list/plant-id.ts'
import type { PlantView } from '../list/plant-view.ts'
import type { Tags } from '../list/use-tags.ts'
import { Icon } from '../text/icon.tsx'
import { TransferButtons } from '../transfer/transfer.tsx'
import { Toolbar } from './toolbar.tsx'

/** How long a person who adds a plant waits for a suggested id, at most, in milliseconds. */
const SUGGESTION_MS = 2000

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
      onClick={async () => drafts.add(canRead ? await suggestId(view, client) : '')}
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
          onImported={() => view.catchUp()}
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
async function suggestId({ list }: PlantView, client: PlantStoreClient): Promise<string> {
  try {
    const last = list.isComplete && isEmpty(list.filter) ? list.end : await findLastId(client)
    const next = String((last ?? 0n) + 1n)
    return parseId(next) === undefined ? '' : next
  } catch {
    // The person can type one.
    return ''
  }
}

async function findLastId(client: PlantStoreClient): Promise<bigint | undefined> {
  const plants = await findLastPlants(client, {}, AbortSignal.timeout(SUGGESTION_MS))
  return plants.at(-1)?.id
}
