import type { StoredPlant } from '../../client/client.ts'
import { labelOf } from '../text/display-text.ts'

/** Offers to add the latest deleted plant again, then the one before. */
export function UndoBar({
  deleted,
  onUndo,
  onDismiss,
}: {
  /** The latest one last. */
  readonly deleted: readonly StoredPlant[]
  readonly onUndo: (plant: StoredPlant) => void
  readonly onDismiss: () => void
}) {
  const latest = deleted.at(-1)
  if (latest === undefined) return null
  const others = deleted.length - 1
  return (
    <section class="undo" aria-label="Deleted plants">
      <p>
        Deleted <bdi>{labelOf(latest)}</bdi>
        {others > 0 && ` and ${others} more`}
      </p>
      <div class="buttons">
        <button type="button" onClick={() => onUndo(latest)}>
          Undo
        </button>
        <button type="button" onClick={onDismiss}>
          Dismiss
        </button>
      </div>
    </section>
  )
}
