import type { RefObject } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { StoredPlant } from '../../client/client.ts'
import type { Session } from '../access/session.ts'
import { SessionBar } from '../access/session-bar.tsx'
import { DraftEditor } from '../drafts/draft-editor.tsx'
import { DraftTray } from '../drafts/draft-tray.tsx'
import type { Drafts, Saver } from '../drafts/drafts.ts'
import { UndoBar } from '../drafts/undo-bar.tsx'
import { toSentence } from '../errors/error-text.ts'
import { parseFragment, type Selection, toFragment } from '../list/filter.ts'
import { parseId } from '../list/plant-id.ts'
import { PlantView } from '../list/plant-view.ts'
import { browser } from '../list/surroundings.ts'
import { useTags } from '../list/use-tags.ts'
import { useModel } from '../model/use-model.ts'
import { PlantTable } from '../table/plant-table.tsx'
import type { FocusRequest } from '../table/use-row-focus.ts'
import { labelOf } from '../text/display-text.ts'
import { Icon } from '../text/icon.tsx'
import { TransferButtons } from '../transfer/transfer.tsx'
import { ListFooter, ListSummary } from './list-status.tsx'
import { PlantDetails } from './plant-details.tsx'
import { Toolbar } from './toolbar.tsx'
import './plants.css'

/** Shows and changes plants. */
export function Plants({
  session,
  drafts,
  onSignOut,
}: {
  readonly session: Session
  readonly drafts: Drafts
  readonly onSignOut: () => void
}) {
  const { client, feedClient, canRead, canWrite, readOnlyReason } = session
  const view = useMemo(
    () =>
      new PlantView({
        client,
        feedClient,
        surroundings: browser,
        selection: parseFragment(location.hash),
        onChange: (change) => drafts.observe(change),
      }),
    [session],
  )
  const tags = useTags(client)
  const [deleted, setDeleted] = useState<readonly StoredPlant[]>([])
  const [viewedId, setViewedId] = useState<bigint>()
  const [announcement, setAnnouncement] = useState({ text: '', isSeen: true })
  const [focusRequest, setFocusRequest] = useState<FocusRequest>()
  const addButton = useRef<HTMLButtonElement>(null)
  useModel(view)
  useModel(drafts)
  useEffect(() => {
    if (canRead) view.follow()
    // The person has opened a bookmark, or edited the URL.
    const navigate = () => view.select(parseFragment(location.hash))
    addEventListener('hashchange', navigate)
    return () => {
      removeEventListener('hashchange', navigate)
      view.close()
    }
  }, [view])

  const focus = (id?: bigint) => {
    if (view.list.length > 0) setFocusRequest({ id })
    else addButton.current?.focus()
  }
  const saver: Saver = {
    client,
    canRead,
    onSaved: (change, { draft, wasOpen, isOvertaken }) => {
      if (!isOvertaken) view.apply(change)
      const { isDeletion, before, typed } = draft
      const done = isDeletion ? 'Deleted' : before === undefined ? 'Added' : 'Saved'
      const isSeen = isDeletion || view.list.find(change.id) !== undefined
      setAnnouncement({ text: `${done} ${labelOf(typed)}.`, isSeen })
      if (isDeletion && before) setDeleted((earlier) => [...earlier, before])
      if (wasOpen) focus(change.id)
    },
  }
  const select = (selection: Selection) => {
    setAnnouncement({ text: '', isSeen: true })
    history.replaceState(null, '', toFragment(selection))
    setViewedId(undefined)
    view.select(selection)
  }
  const openDraft = drafts.open
  const isInTable =
    openDraft?.before !== undefined && view.list.find(openDraft.before.id) !== undefined
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
  const details = viewed && (
    <PlantDetails
      plant={viewed}
      onClose={() => {
        setViewedId(undefined)
        focus(viewed.id)
      }}
    />
  )
  const expanded = isInTable
    ? { id: openDraft.before.id, content: editor }
    : viewed && { id: viewed.id, content: details }

  return (
    <div class="plants">
      <SessionBar session={session} onSignOut={onSignOut} />
      <main>
        {readOnlyReason !== undefined && <p class="notice">{toSentence(readOnlyReason)}</p>}
        {canRead ? (
          <Toolbar tags={tags} selection={view.selection} onSelect={select}>
            <TransferButtons
              session={session}
              filter={view.selection.filter}
              onImported={() => {
                if (view.feed.state !== 'live') view.reload()
              }}
            />
            {canWrite && (
              <AddButton buttonRef={addButton} onAdd={() => drafts.add(suggestId(view))} />
            )}
          </Toolbar>
        ) : (
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
                <AddButton buttonRef={addButton} onAdd={() => drafts.add('')} />
              </div>
            )}
          </div>
        )}
        {!isInTable && editor && <div class="panel">{editor}</div>}
        {canRead && (
          <>
            <ListSummary view={view} onSelect={select} />
            <PlantTable
              view={view}
              expanded={expanded}
              focusRequest={focusRequest}
              draftNote={(id) => noteOf(drafts, id)}
              actions={{
                canWrite,
                onOpen: canWrite ? (plant) => drafts.edit(plant) : ({ id }) => setViewedId(id),
                onDelete: (plant) => drafts.delete(plant, saver),
              }}
              footer={<ListFooter view={view} canWrite={canWrite} onSelect={select} />}
            />
          </>
        )}
        {/* Below the table, where they move no row. */}
        <DraftTray drafts={drafts} saver={saver} session={session} onFocus={() => focus()} />
        <UndoBar
          deleted={deleted}
          onUndo={(plant) => {
            setDeleted(deleted.filter((each) => each !== plant))
            drafts.restore(plant, saver).then(() => focus(plant.id))
          }}
          onDismiss={() => {
            setDeleted([])
            focus()
          }}
        />
        <p role="status" class={announcement.isSeen ? 'for-screen-readers' : 'notice'}>
          {announcement.text}
        </p>
      </main>
    </div>
  )
}

function AddButton({
  buttonRef,
  onAdd,
}: {
  readonly buttonRef: RefObject<HTMLButtonElement | null>
  readonly onAdd: () => void
}) {
  return (
    <button ref={buttonRef} type="button" class="primary" onClick={onAdd}>
      <Icon name="add" /> Add plant
    </button>
  )
}

/** The id after the last one, or nothing if that is not known. */
function suggestId({ list, selection: { filter } }: PlantView): string {
  if (!list.isComplete || filter.q !== undefined || filter.tag !== undefined) return ''
  const next = String((list.end ?? 0n) + 1n)
  return parseId(next) === undefined ? '' : next
}

function noteOf(drafts: Drafts, id: bigint): string | undefined {
  const draft = drafts.of(id)
  if (draft === undefined || draft === drafts.open) return undefined
  return draft.state === 'sending' ? 'saving…' : 'not saved'
}
