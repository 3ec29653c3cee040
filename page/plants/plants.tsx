import { useRef, useState } from 'preact/hooks'
import type { Session } from '../access/session.ts'
import { SessionBar } from '../access/session-bar.tsx'
import type { UndoLog } from '../changes/undo-log.ts'
import { DraftEditor } from '../drafts/draft-editor.tsx'
import type { Drafts } from '../drafts/drafts.ts'
import { toSentence } from '../errors/error-text.ts'
import { createFilter, type Selection } from '../list/filter.ts'
import { useTags } from '../list/use-tags.ts'
import { useModel } from '../model/use-model.ts'
import { fieldTracks } from '../table/field-columns.ts'
import { PlantTable } from '../table/plant-table.tsx'
import type { FocusRequest } from '../table/use-row-focus.ts'
import { Changes } from './changes.tsx'
import { ListFooter } from './list-footer.tsx'
import { PlantDetails } from './plant-details.tsx'
import { StatusLine } from './status-line.tsx'
import { Tools } from './tools.tsx'
import { useNavigation } from './use-navigation.ts'
import { usePlantView } from './use-plant-view.ts'
import { useSaver } from './use-saver.ts'
import { useUndo } from './use-undo.ts'
import './plants.css'

interface PlantsProps {
  readonly session: Session
  readonly drafts: Drafts
  readonly log: UndoLog
  readonly onSignOut: () => void
}

/** Shows and changes plants. */
export function Plants({ session, drafts, log, onSignOut }: PlantsProps) {
  const { client, canRead, canWrite, readOnlyReason } = session
  const view = usePlantView(session, drafts)
  const tags = useTags(client)
  useModel(drafts)
  useModel(log)
  const [viewedId, setViewedId] = useState<bigint>()
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
  const undoing = useUndo(log, drafts, saver, focus)
  const select = (selection: Selection) => {
    saving.endAnnouncement()
    setViewedId(undefined)
    navigation.select(selection)
  }
  const openDraft = drafts.open
  const edited = openDraft?.before && view.list.find(openDraft.before.id)
  const editor = openDraft && (
    <DraftEditor
      key={openDraft.key}
      drafts={drafts}
      draft={openDraft}
      saver={saver}
      tags={canRead ? tags : undefined}
      onClose={() => focus(openDraft.before?.id)}
    />
  )
  const viewed = viewedId === undefined ? undefined : view.list.find(viewedId)
  const closeDetails = () => {
    setViewedId(undefined)
    focus(viewedId)
  }
  const details = viewed && <PlantDetails plant={viewed} onClose={closeDetails} />
  const expanded = edited
    ? { id: edited.id, content: editor }
    : viewed && { id: viewed.id, content: details }

  return (
    <div class="plants">
      <SessionBar session={session} onSignOut={onSignOut} />
      <main style={{ '--fields-width': fieldTracks().width }}>
        {readOnlyReason !== undefined && <p class="notice">{toSentence(readOnlyReason)}</p>}
        <Tools
          {...{ session, view, drafts, log, tags, addButton }}
          onSelect={select}
          onUndo={undoing.undo}
        />
        {!edited && editor && <div class="panel">{editor}</div>}
        {canRead && (
          <>
            <StatusLine view={view} onSelect={select} onLast={navigation.showLast} />
            <PlantTable
              view={view}
              expanded={expanded}
              focusRequest={focusRequest}
              draftNote={(id) => noteOf(drafts, id)}
              actions={{
                canWrite,
                onOpen: canWrite ? (plant) => drafts.edit(plant) : ({ id }) => setViewedId(id),
                onDelete: (plant) => drafts.delete(plant, saver),
                onTag: (tag) =>
                  select({ filter: createFilter({ q: view.selection.filter.q, tag }) }),
              }}
              onFirst={navigation.showFirst}
              onLast={navigation.showLast}
              footer={<ListFooter view={view} canWrite={canWrite} />}
            />
          </>
        )}
        {/* Below the table, where they move no row. */}
        <Changes {...{ session, view, drafts, log, saving, undoing }} onFocus={focus} />
      </main>
    </div>
  )
}

function noteOf(drafts: Drafts, id: bigint): string | undefined {
  const draft = drafts.of(id)
  if (draft === undefined || draft === drafts.open) return undefined
  return draft.state === 'sending' ? 'saving…' : 'not saved'
}
