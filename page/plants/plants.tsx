import { useRef, useState } from 'preact/hooks'
import type { Session } from '../access/session.ts'
import { SessionBar } from '../access/session-bar.tsx'
import { DraftEditor } from '../drafts/draft-editor.tsx'
import { DraftTray } from '../drafts/draft-tray.tsx'
import type { Drafts } from '../drafts/drafts.ts'
import { UndoBar } from '../drafts/undo-bar.tsx'
import { toSentence } from '../errors/error-text.ts'
import { createFilter, type Selection, toFragment } from '../list/filter.ts'
import type { PlantView } from '../list/plant-view.ts'
import { useTags } from '../list/use-tags.ts'
import { useModel } from '../model/use-model.ts'
import { fieldTracks } from '../table/field-columns.ts'
import { PlantTable } from '../table/plant-table.tsx'
import type { FocusRequest } from '../table/use-row-focus.ts'
import { ListFooter } from './list-footer.tsx'
import { PlantDetails } from './plant-details.tsx'
import { StatusLine } from './status-line.tsx'
import { Tools } from './tools.tsx'
import { useNavigation } from './use-navigation.ts'
import { usePlantView } from './use-plant-view.ts'
import { useSaver } from './use-saver.ts'
import './plants.css'

interface PlantsProps {
  /** Whether the service serves the docs. */
  readonly docs: boolean
  readonly session: Session
  readonly drafts: Drafts
  readonly onSignOut: () => void
}

/** Shows and changes plants. */
export function Plants({ docs, session, drafts, onSignOut }: PlantsProps) {
  const { client, canRead, canWrite, readOnlyReason } = session
  const view = usePlantView(session, drafts)
  const tags = useTags(client)
  useModel(drafts)
  const [viewedId, setViewedId] = useState<bigint>()
  // At first, the row that has the focus by default.
  const [focusRequest, setFocusRequest] = useState<FocusRequest>({})
  const addButton = useRef<HTMLButtonElement>(null)
  const focus = (target?: bigint | 'add') => {
    if (target !== 'add' && view.list.length > 0) setFocusRequest({ id: target })
    else addButton.current?.focus()
  }
  const navigation = useNavigation(client, view, focus)
  const saving = useSaver(session, view, focus)
  const { saver } = saving
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
      <SessionBar docs={docs} session={session} onSignOut={onSignOut} />
      <main style={{ '--fields-width': fieldTracks().width }}>
        {readOnlyReason !== undefined && <p class="notice">{toSentence(readOnlyReason)}</p>}
        <Tools {...{ session, view, drafts, tags, addButton }} onSelect={select} />
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
        <DraftTray drafts={drafts} saver={saver} session={session} onFocus={() => focus()} />
        <Results {...saving} view={view} drafts={drafts} onFocus={focus} />
      </main>
    </div>
  )
}

/** Says which changes have been saved, and offers to undo deletions. */
function Results({
  saver,
  deleted,
  setDeleted,
  announcement: { text, isSeen, added },
  endAnnouncement,
  view,
  drafts,
  onFocus,
}: ReturnType<typeof useSaver> & {
  readonly view: PlantView
  readonly drafts: Drafts
  /** Called with a plant that is there again, or when the focused button disappears. */
  readonly onFocus: (id?: bigint) => void
}) {
  return (
    <>
      <UndoBar
        deleted={deleted}
        onUndo={(plant) => {
          setDeleted(deleted.filter((each) => each !== plant))
          drafts.restore(plant, saver).then(() => onFocus(plant.id))
        }}
        onDismiss={() => {
          setDeleted([])
          onFocus()
        }}
      />
      <p role="status" class={isSeen ? 'for-screen-readers' : 'notice'}>
        {text}{' '}
        {added !== undefined && (
          <a
            href={toFragment({ filter: {}, first: added })}
            onClick={(event) => {
              if (view.list.find(added) === undefined) return
              event.preventDefault()
              // The focus leaves the link.
              endAnnouncement()
              onFocus(added)
            }}
          >
            Show it
          </a>
        )}
      </p>
    </>
  )
}

function noteOf(drafts: Drafts, id: bigint): string | undefined {
  const draft = drafts.of(id)
  if (draft === undefined || draft === drafts.open) return undefined
  return draft.state === 'sending' ? 'saving…' : 'not saved'
}
