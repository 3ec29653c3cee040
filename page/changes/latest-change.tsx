import { useEffect, useRef } from 'preact/hooks'
import type { Session } from '../access/session.ts'
import { toFragment } from '../list/filter.ts'
import type { PlantView } from '../list/plant-view.ts'
import { useModel } from '../model/use-model.ts'
import { Icon } from '../text/icon.tsx'
import { formatCount, formatNumber } from '../text/intl.ts'
import type { Announcement, Operation, UndoLog } from './undo-log.ts'

/** Says what has just been changed, and offers to take back the latest operation, then the one before. */
export function LatestChange({
  session: { canRead, canWrite },
  view,
  log,
  onUndo,
  onFocus,
}: {
  readonly session: Session
  readonly view: PlantView
  readonly log: UndoLog
  readonly onUndo: (key: number) => void
  /** Called with a plant to focus, or when the focused button has disappeared. */
  readonly onFocus: (id?: bigint) => void
}) {
  useModel(log)
  const { announcement, operations } = log
  const undoButton = useRef<HTMLButtonElement>(null)
  const latest = canRead && canWrite ? operations.at(-1) : undefined
  const isLatest = latest !== undefined && announcement?.operation === latest.key
  const hadFocus = useRef(false)
  useEffect(() => {
    // The button has disappeared with the last operation.
    if (hadFocus.current && latest === undefined) onFocus()
    hadFocus.current = document.activeElement === undoButton.current
  })
  const added = announcement?.added
  const others = operations.length - 1
  return (
    <section
      class={latest || announcement ? 'latest row' : 'for-screen-readers'}
      aria-label="Latest changes"
    >
      {/* Before there is anything to say, so that screen readers notice it. */}
      <p role="status" class="row">
        {announcement && !isLatest && <Sentence {...announcement} />}
        {added !== undefined && (
          <>
            {' '}
            <a
              href={toFragment({ filter: {}, first: added })}
              onClick={(event) => {
                if (view.list.find(added) === undefined) return
                event.preventDefault()
                // The focus leaves the link.
                log.announce()
                onFocus(added)
              }}
            >
              Show it
            </a>
          </>
        )}
        {latest && <Sentence {...latest} unchanged={(isLatest && announcement?.unchanged) || 0} />}
      </p>
      {latest && others > 0 && <span class="hint">{formatCount(others, 'earlier change')}</span>}
      {latest && (
        <button ref={undoButton} type="button" onClick={() => onUndo(latest.key)}>
          Undo
        </button>
      )}
      {(latest || announcement) && (
        <button
          type="button"
          class="quiet"
          aria-label="Dismiss"
          title="Dismiss"
          onClick={() => {
            log.clear()
            onFocus()
          }}
        >
          <Icon name="close" />
        </button>
      )}
    </section>
  )
}

function Sentence({
  title,
  label,
  count = 1,
  unknown = 0,
  unchanged = 0,
}: Pick<Announcement, 'title' | 'label' | 'unchanged'> &
  Partial<Pick<Operation, 'count' | 'unknown'>>) {
  return (
    <span>
      {title}
      {label !== undefined && (
        <>
          {' '}
          <bdi>{label}</bdi>
        </>
      )}
      {describeCount(count, unknown)}
      {unchanged > 0 && `, ${formatNumber(unchanged)} unchanged`}
    </span>
  )
}

function describeCount(count: number, unknown: number): string {
  const plants = count === 1 ? '' : `: ${formatCount(count, 'plant')}`
  if (unknown === 0) return plants
  const [others, them] = unknown === 1 ? ['one', 'it'] : [formatNumber(unknown), 'them']
  return `${plants} (and ${others} more that somebody else may have added, so undo leaves ${them})`
}
