import { useMemo, useRef, useState } from 'preact/hooks'
import type { Session } from '../access/session.ts'
import { LatestChange } from '../changes/latest-change.tsx'
import type { Operation, UndoLog } from '../changes/undo-log.ts'
import { lazyDialog } from '../dialog/lazy.tsx'
import type { Drafts, Saver } from '../drafts/drafts.ts'
import { toSentence } from '../errors/error-text.ts'
import { type ListQuery, toFragment, withFilter } from '../list/filter.ts'
import { useTags } from '../list/use-tags.ts'
import { useModel } from '../model/use-model.ts'
import { PlantSelection } from '../selection/plant-selection.ts'
import { rangesBetween } from '../selection/selected-count.ts'
import type { Task } from '../selection/task.ts'
import { fieldTracks } from '../table/field-columns.ts'
import { PlantTable } from '../table/plant-table.tsx'
import type { FocusRequest } from '../table/use-row-focus.ts'
import { StatusLine } from '../toolbar/status-line.tsx'
import { Tools } from '../toolbar/tools.tsx'
import { PlantPanel, UnsavedChanges } from './plant-panel.tsx'
import { createSaver } from './saver.ts'
import { SessionBar } from './session-bar.tsx'
import { useNavigation } from './use-navigation.ts'
import { usePlantView } from './use-plant-view.ts'

const TaskDialog = lazyDialog((parts) => parts.TaskDialog)

interface PlantsProps {
  /** Whether the service serves the docs. */
  readonly docs: boolean
  readonly session: Session
  readonly drafts: Drafts
  readonly log: UndoLog
  readonly onSignOut: () => void
}

/** Shows and changes plants. Its parts show what changes, so that it is seldom rendered itself. */
export function Plants({ docs, session, drafts, log, onSignOut }: PlantsProps) {
  const { client, canRead, canWrite, readOnlyReason } = session
  const [viewedId, setViewedId] = useState<bigint>()
  const [task, setTask] = useState<Task>()
  const addButton = useRef<HTMLButtonElement>(null)
  const focusTable = useRef((_request: FocusRequest) => {})
  const tags = useTags(client)
  const view = usePlantView(session, drafts, () => drafts.resume(saver))
  useModel(view, ({ query }) => query)
  const { query } = view
  const selection = useSelection(view)
  const focus = (target?: bigint | 'add') => {
    if (target !== 'add' && view.list.length > 0) focusTable.current({ id: target })
    else addButton.current?.focus()
  }
  const saver = createSaver(session, view, log, focus)
  const navigation = useNavigation(client, view, (edge) => focusTable.current({ edge }))
  const show = (query: ListQuery) => {
    log.announce()
    setViewedId(undefined)
    navigation.show(query)
  }
  const undo = useUndo({ log, drafts, saver, onTask: setTask, onFocus: focus })
  const tools = { session, view, drafts, log, tags, selection, addButton }

  return (
    <div class="plants" style={{ '--fields-width': fieldTracks().width }}>
      <SessionBar docs={docs} session={session} onSignOut={onSignOut} />
      <main>
        {readOnlyReason !== undefined && <p class="notice">{toSentence(readOnlyReason)}</p>}
        <Tools
          {...tools}
          onShow={show}
          onLast={navigation.showLast}
          onTask={setTask}
          onUndo={undo}
          onFocus={() => focus()}
        />
        {canRead && <StatusLine view={view} onShow={show} />}
        <div class="workspace">
          {canRead && (
            <PlantTable
              {...{ view, drafts, viewedId, focusTable }}
              selection={canWrite ? selection : undefined}
              actions={{
                canWrite,
                onOpen: canWrite ? (plant) => drafts.edit(plant) : ({ id }) => setViewedId(id),
                onDelete: (plant) => drafts.delete(plant, saver),
                onTag: (tag) => {
                  const { untagged: _, ...filter } = query.filter
                  show(withFilter(query, { ...filter, tag }))
                },
              }}
              onSort={(sort) => show({ filter: query.filter, ...(sort !== undefined && { sort }) })}
              onFirst={navigation.showFirst}
              onLast={navigation.showLast}
            />
          )}
          <PlantPanel
            {...{ session, view, drafts, saver, tags, viewedId }}
            onClose={(id) => {
              setViewedId(undefined)
              focus(id)
            }}
          />
        </div>
        {/* Below the table, where they move no row. */}
        <div class="bars">
          <UnsavedChanges {...{ session, drafts, saver }} onFocus={() => focus()} />
          <LatestChange {...{ session, view, log }} onUndo={undo} onFocus={focus} />
        </div>
        {task && (
          <TaskDialog
            key={task}
            {...{ session, log, tags, task }}
            onBegin={() => {
              if (task.action === 'delete') selection.clear()
              return view.pause()
            }}
            onUndo={undo}
            onClose={() => {
              setTask(undefined)
              focus()
            }}
          />
        )}
      </main>
    </div>
  )
}

/** Returns a function that takes an operation back: one on a single plant without a dialog, which would cover the plant. */
function useUndo({
  log,
  drafts,
  saver,
  onTask,
  onFocus,
}: {
  readonly log: UndoLog
  readonly drafts: Drafts
  readonly saver: Saver
  readonly onTask: (task: Task | undefined) => void
  readonly onFocus: (id: bigint) => void
}) {
  const undoAlone = async (operation: Operation): Promise<boolean> => {
    try {
      for await (const intent of log.intents(operation)) {
        const draft = drafts.of(intent.id)
        // The person decides first what becomes of it.
        if (draft !== undefined) drafts.openDraft(draft.key)
        else {
          await log.remove(operation.key)
          await drafts.carryOut(intent, saver, { isUndo: true })
          onFocus(intent.id)
        }
      }
      return true
    } catch {
      // The dialog says why it cannot be read.
      return false
    }
  }
  return async (key: number) => {
    const operation = log.find(key)
    if (operation === undefined) return
    onTask(undefined)
    const isUndone = operation.count === 1 && (await undoAlone(operation))
    if (!isUndone) onTask({ action: 'undo', operation })
  }
}

/** The plants that a person selects, until the table shows those of another filter or order. */
function useSelection(view: ReturnType<typeof usePlantView>): PlantSelection {
  const key = toFragment(withFilter(view.query, view.query.filter))
  return useMemo(
    () => new PlantSelection((one, other) => rangesBetween(view.list, one, other)),
    [view, key],
  )
}
