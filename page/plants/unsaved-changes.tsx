import type { Session } from '../access/session.ts'
import type { UndoLog } from '../changes/undo-log.ts'
import { lazyDialog } from '../dialog/lazy-dialog.tsx'
import { DraftTray } from '../drafts/draft-tray.tsx'
import type { Drafts } from '../drafts/drafts.ts'
import { toFragment } from '../list/filter.ts'
import type { PlantView } from '../list/plant-view.ts'
import type { useRuns } from './use-runs.ts'
import type { useSaver } from './use-saver.ts'

const loadProgress = () => import('../selection/dialogs.ts')
const ChangeProgress = lazyDialog(async () => (await loadProgress()).ChangeProgress)
const UndoProgress = lazyDialog(async () => (await loadProgress()).UndoProgress)

/** The changes that are not saved, and what has become of the others. */
export function Changes({
  session,
  view,
  drafts,
  log,
  saving,
  runs,
  onFocus,
}: {
  readonly session: Session
  readonly view: PlantView
  readonly drafts: Drafts
  readonly log: UndoLog
  readonly saving: ReturnType<typeof useSaver>
  readonly runs: ReturnType<typeof useRuns>
  /** Called with a plant to focus, or when the focused button disappears. */
  readonly onFocus: (id?: bigint) => void
}) {
  const { run } = runs
  const ends = { onBegin: () => view.pause(), onClose: runs.close }
  return (
    <>
      <DraftTray drafts={drafts} saver={saving.saver} session={session} onFocus={() => onFocus()} />
      <Announcement {...saving} view={view} onFocus={onFocus} />
      {run && 'change' in run && (
        <ChangeProgress {...{ session, log }} {...run} {...ends} onUndo={runs.undo} />
      )}
      {run && 'operation' in run && <UndoProgress {...{ session, log }} {...run} {...ends} />}
    </>
  )
}

/** Says which change has been saved. */
function Announcement({
  announcement: { text, isSeen, added },
  endAnnouncement,
  view,
  onFocus,
}: ReturnType<typeof useSaver> & {
  readonly view: PlantView
  readonly onFocus: (id: bigint) => void
}) {
  return (
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
  )
}
