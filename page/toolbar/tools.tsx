import type { RefObject } from 'preact'
import type { PlantStoreClient } from '../../client/client.ts'
import type { Session } from '../access/session.ts'
import type { UndoLog } from '../changes/undo-log.ts'
import type { Drafts } from '../drafts/drafts.ts'
import { type Filter, isEmpty, type ListQuery } from '../list/filter.ts'
import { idAfter, suggestId } from '../list/last-plants.ts'
import type { PlantView } from '../list/plant-view.ts'
import type { Tags } from '../list/use-tags.ts'
import { useModel } from '../model/use-model.ts'
import { IdRanges } from '../selection/id-ranges.ts'
import type { PlantSelection } from '../selection/plant-selection.ts'
import { SelectionBar } from '../selection/selection-bar.tsx'
import type { Task } from '../selection/task.ts'
import { Icon } from '../text/icon.tsx'
import { useTransfer } from '../transfer/use-transfer.tsx'
import { Menu } from './menu.tsx'
import { Toolbar } from './toolbar.tsx'

/**
 * The toolbar or, while plants are selected, what to do with them. Without the right to read plants, only
 * what else the person can do.
 */
export function Tools({
  session,
  view,
  drafts,
  log,
  tags,
  selection,
  addButton,
  onShow,
  onLast,
  onTask,
  onUndo,
  onFocus,
}: {
  readonly session: Session
  readonly view: PlantView
  readonly drafts: Drafts
  readonly log: UndoLog
  readonly tags: Tags
  readonly selection: PlantSelection
  readonly addButton: RefObject<HTMLButtonElement | null>
  readonly onShow: (query: ListQuery) => void
  readonly onLast: () => void
  readonly onTask: (task: Task) => void
  /** Takes an operation back. */
  readonly onUndo: (key: number) => void
  /** Called when the focused button disappears. */
  readonly onFocus: () => void
}) {
  const { client, canRead, canWrite } = session
  const { query } = view
  useModel(selection, ({ ranges }) => ranges.isEmpty)
  const { openFile, openExport, elements } = useTransfer({
    session,
    log,
    filter: query.filter,
    onBegin: canRead ? () => view.pause() : undefined,
    onUndo,
  })
  const add = canWrite && (
    <button
      ref={addButton}
      type="button"
      class="primary"
      onClick={async () => drafts.add(canRead ? await textOfFreeId(view, client) : '')}
    >
      <Icon name="add" /> <span class="label">Add plant</span>
    </button>
  )
  const importButton = canWrite && (
    <button type="button" onClick={openFile}>
      Import…
    </button>
  )
  if (!canRead) {
    return (
      <div class="empty stack">
        <Icon name="empty" />
        <h2>{canWrite ? 'Add plants' : 'No access'}</h2>
        <p>
          {canWrite
            ? 'You are not permitted to read plants. You can only add them.'
            : 'You are not permitted to read or change plants. Ask the operator of this service for access.'}
        </p>
        <div class="row">
          {importButton}
          {add}
        </div>
        {elements}
      </div>
    )
  }
  const { filter } = query
  return (
    <>
      {canWrite && !selection.ranges.isEmpty ? (
        <SelectionBar {...{ view, selection, onTask, onFocus }} />
      ) : (
        <Toolbar {...{ tags, query, onShow }}>
          {add}
          <Menu label="More">
            {() => (
              <>
                {importButton}
                <button type="button" onClick={openExport}>
                  Export…
                </button>
                {!view.list.isComplete && query.sort === undefined && (
                  <button type="button" onClick={onLast}>
                    Show the last ones
                  </button>
                )}
                {canWrite && isTag(filter) && view.list.length > 0 && (
                  <button
                    type="button"
                    onClick={() => onTask({ action: 'rename', filter, ranges: IdRanges.ALL })}
                  >
                    Rename this tag…
                  </button>
                )}
              </>
            )}
          </Menu>
        </Toolbar>
      )}
      {elements}
    </>
  )
}

/** Whether a filter selects all plants with a tag. */
function isTag({ tag, ...others }: Filter): boolean {
  return tag !== undefined && isEmpty(others)
}

/** The id after the last one, or nothing if that is not known. */
async function textOfFreeId({ list }: PlantView, client: PlantStoreClient): Promise<string> {
  const isWhole = list.isComplete && list.order.sort === undefined && isEmpty(list.filter)
  const id = isWhole ? idAfter(list.end?.id ?? 0n) : await suggestId(client)
  return id === undefined ? '' : String(id)
}
