import type { PlantStoreClient, StoredPlant } from '../../client/client.ts'
import type { BulkChange } from '../changes/intent.ts'
import { Dialog } from '../dialog/dialog.tsx'
import type { Tags } from '../list/use-tags.ts'
import { cut, labelOf } from '../text/display-text.ts'
import { formatCount, formatNumber } from '../text/intl.ts'
import { MemberForm } from './member-form.tsx'
import { deletePlants } from './selected-changes.ts'
import type { PlantsTask } from './task.ts'
import { useSelectedPlants } from './use-selected-plants.ts'

/** Enough to check that these are the plants that one means. */
const LABELS_MAX = 3

/** Enough to recognize a tag. */
const TAG_LENGTH = 80

/** Reads plants, shows what they are, and asks how to change them. Changes none itself. */
export function ChangeDialog({
  client,
  tags,
  task: { action, filter, ranges },
  onStart,
  onClose,
}: {
  readonly client: PlantStoreClient
  /** Suggestions. */
  readonly tags: Tags
  readonly task: PlantsTask
  readonly onStart: (change: BulkChange) => void
  readonly onClose: () => void
}) {
  const { count, plants, problem } = useSelectedPlants(client, filter, ranges)
  if (problem !== undefined || plants === undefined) {
    return <Unfinished {...{ count, problem, onClose }} />
  }
  if (plants.length === 0) {
    return (
      <Dialog title="Nothing to change" onClose={onClose}>
        <p>The selected plants no longer exist, or no longer match.</p>
        <footer>
          <button type="button" class="primary" onClick={onClose}>
            Close
          </button>
        </footer>
      </Dialog>
    )
  }
  const summary = <Summary plants={plants} />
  if (action === 'delete') {
    return (
      <Dialog title="Delete plants" onClose={onClose}>
        {summary}
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="button" class="primary" onClick={() => onStart(deletePlants(plants))}>
            Delete {formatCount(plants.length, 'plant')}
          </button>
        </footer>
      </Dialog>
    )
  }
  const renamed = action === 'rename' ? filter.tag : undefined
  const title =
    renamed === undefined ? 'Change plants' : `Rename the tag “${cut(renamed, TAG_LENGTH)}”`
  return (
    <Dialog title={title} onClose={onClose}>
      <MemberForm {...{ plants, renamed, tags, onStart, onClose }}>{summary}</MemberForm>
    </Dialog>
  )
}

/** Reading that is under way or has failed. */
function Unfinished({
  count,
  problem,
  onClose,
}: {
  readonly count: number
  readonly problem: string | undefined
  readonly onClose: () => void
}) {
  const isFailed = problem !== undefined
  return (
    <Dialog title={isFailed ? 'Nothing was changed' : 'Reading the plants'} onClose={onClose}>
      {!isFailed && (
        <label class="stack">
          {formatCount(count, 'plant')} so far
          <progress />
        </label>
      )}
      <p class="problem" role="alert">
        {problem}
      </p>
      <footer>
        <button type="button" onClick={onClose}>
          {isFailed ? 'Close' : 'Cancel'}
        </button>
      </footer>
    </Dialog>
  )
}

/** How many plants there are, and the first ones. */
function Summary({ plants }: { readonly plants: readonly StoredPlant[] }) {
  const others = plants.length - LABELS_MAX
  return (
    <p>
      {formatCount(plants.length, 'plant')}:{' '}
      {plants.slice(0, LABELS_MAX).map((plant, index) => (
        <>
          {index > 0 && ', '}
          <bdi>{labelOf(plant)}</bdi>
        </>
      ))}
      {others > 0 && ` and ${formatNumber(others)} more`}
    </p>
  )
}
