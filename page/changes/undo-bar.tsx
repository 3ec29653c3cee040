import { formatCount, formatNumber } from '../text/numbers.ts'
import type { Operation, UndoLog } from './undo-log.ts'

/** Offers to take back the latest operation, then the one before. */
export function UndoBar({
  log,
  onUndo,
  onDismiss,
}: {
  readonly log: UndoLog
  readonly onUndo: (key: number) => void
  /** Called when the focused button has disappeared. */
  readonly onDismiss: () => void
}) {
  const { operations } = log
  const latest = operations.at(-1)
  if (latest === undefined) return null
  const others = operations.length - 1
  return (
    <section class="undo" aria-label="Latest changes">
      <p>
        {latest.title}
        {latest.label !== undefined && (
          <>
            {' '}
            <bdi>{latest.label}</bdi>
          </>
        )}
        {describeCount(latest)}
        {others > 0 && `, and ${formatCount(others, 'earlier change')}`}
      </p>
      <div class="buttons">
        <button type="button" onClick={() => onUndo(latest.key)}>
          Undo
        </button>
        <button
          type="button"
          onClick={() => {
            log.clear()
            onDismiss()
          }}
        >
          Dismiss
        </button>
      </div>
    </section>
  )
}

function describeCount({ count, unknown }: Operation): string {
  const plants = count === 1 ? '' : `: ${formatCount(count, 'plant')}`
  if (unknown === 0) return plants
  const [others, them] = unknown === 1 ? ['one', 'it'] : [formatNumber(unknown), 'them']
  return `${plants} (and ${others} more that somebody else may have added, so undo leaves ${them})`
}
