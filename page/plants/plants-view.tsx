import { useRef, useState } from 'preact/hooks'
import type { Session } from '../access/session.ts'
import { SessionBar } from '../access/session-bar.tsx'
import { UndoBar } from '../changes/undo-bar.tsx'
import type { UndoLog } from '../changes/undo-log.ts'
import type { Drafts } from '../drafts/drafts.ts'
import { toSentence } from '../errors/error-text.ts'
import { type Selection, withFilter } from '../list/filter.ts'
import { useTags } from '../list/use-tags.ts'
import { useModel } from '../model/use-model.ts'
import { useBulkChanges } from '../selection/use-bulk-changes.tsx'
import { fieldTracks } from '../table/field-columns.ts'
import { PlantTable } from '../table/plant-table.tsx'
import type { FocusRequest } from '../table/use-row-focus.ts'
import { ListFooter } from './list-footer.tsx'
import { StatusLine } from './status-line.tsx'
import { Tools } from './tools.tsx'
import { Changes } from './unsaved-changes.tsx'
import { useExpanded } from './use-expanded.tsx'
import { useNavigation } from './use-navigation.ts'
import { usePlantView } from './use-plant-view.ts'
import { useReconnect } from './use-reconnect.ts'
import { useRuns } from './use-runs.ts'
import { useSaver } from './use-saver.ts'
import './plants.css'

interface PlantsProps {
  /** Whether the service serves the docs. */
  readonly docs: boolean
  readonly session: Session
  readonly drafts: Drafts
  readonly log: UndoLog
  readonly onSignOut: () => void
}

/** Shows and changes plants. */
export function Plants({ docs, session, drafts, log, onSignOut }: PlantsProps) {
  const { client, canRead, canWrite, readOnlyReason } = session
  const view = usePlantView(session, drafts)
  const tags = useTags(client)
  useModel(drafts)
  useModel(log)
  // At first, the row that has the focus by default.
  const [focusRequest, setFocusRequest] = useState<FocusRequest>({})
  const addButton = useRef<HTMLButtonElement>(null)
  const focus = (target?: bigint | 'add') => {
    if (target !== 'add' && view.list.length > 0) setFocusRequest({ id: target })
    else addButton.current?.focus()
  }
  const navigation = useNavigation(client, view, focus)
  const saving = useSaver(session, view, log, focus)
  const { saver } = saving
  useReconnect(view, () => canWrite && drafts.resume(saver))
  const runs = useRuns(log, drafts, saver, focus)
  const select = (selection: Selection) => {
    saving.endAnnouncement()
    show(undefined)
    navigation.select(selection)
  }
  const bulk = useBulkChanges({ session, view, tags, onStart: runs.start, onFocus: () => focus() })
  const { panel, expanded, show } = useExpanded(
    view,
    drafts,
    saver,
    canRead ? tags : undefined,
    focus,
  )

  return (
    <div class="plants">
      <SessionBar docs={docs} session={session} onSignOut={onSignOut} />
      <main style={{ '--fields-width': fieldTracks().width }}>
        {readOnlyReason !== undefined && <p class="notice">{toSentence(readOnlyReason)}</p>}
        <Tools
          {...{ session, view, drafts, log, tags, addButton }}
          onSelect={select}
          onUndo={runs.undo}
        />
        {panel}
        {canRead && (
          <>
            <StatusLine {...{ view, ...bulk }} onSelect={select} onLast={navigation.showLast} />
            <PlantTable
              {...{ view, expanded, focusRequest }}
              selection={bulk.selection}
              draftNote={(id) => noteOf(drafts, id)}
              actions={{
                canWrite,
                onOpen: canWrite ? (plant) => drafts.edit(plant) : ({ id }) => show(id),
                onDelete: (plant) => drafts.delete(plant, saver),
                onTag: (tag) => {
                  const { untagged: _, ...filter } = view.selection.filter
                  select(withFilter(view.selection, { ...filter, tag }))
                },
              }}
              onSort={(sort) =>
                select({ filter: view.selection.filter, ...(sort !== undefined && { sort }) })
              }
              onFirst={navigation.showFirst}
              onLast={navigation.showLast}
              footer={<ListFooter view={view} canWrite={canWrite} />}
            />
          </>
        )}
        {/* Below the table, where they move no row. */}
        <div class="bars">
          {bulk.tools}
          {canRead && canWrite && (
            <UndoBar log={log} onUndo={runs.undo} onDismiss={() => focus()} />
          )}
        </div>
        <Changes {...{ session, view, drafts, log, saving, runs }} onFocus={focus} />
      </main>
    </div>
  )
}

function noteOf(drafts: Drafts, id: bigint): string | undefined {
  const draft = drafts.of(id)
  if (draft === undefined || draft === drafts.open) return undefined
  return draft.state === 'sending' ? 'saving…' : 'not saved'
}
