import type { PlantCount } from '../../client/client.ts'
import type { PlantView } from '../list/plant-view.ts'
import { formatNumber } from '../text/numbers.ts'
import type { PlantSelection } from './plant-selection.ts'
import { countSelected } from './selected-count.ts'
import type { Task } from './task.ts'
import './selection.css'

/** Says how many plants are selected, and what to do with them. */
export function SelectionBar({
  view: { list, total, gone },
  selection,
  onTask,
  onFocus,
}: {
  readonly view: PlantView
  readonly selection: PlantSelection
  readonly onTask: (task: Task) => void
  /** Called when the focused button disappears. */
  readonly onFocus: () => void
}) {
  const { ranges } = selection
  if (ranges.isEmpty) return null
  const { filter } = list
  return (
    <section class="selection-bar" aria-label="Selected plants">
      <p role="status">{describe(countSelected(ranges, list, total, gone))}</p>
      <div class="buttons">
        {/* A phone has no head of the table. */}
        {!ranges.isAll && (
          <button
            type="button"
            class="select-all"
            onClick={() => {
              selection.selectAll()
              onFocus()
            }}
          >
            Select all
          </button>
        )}
        <button type="button" onClick={() => onTask({ action: 'change', filter, ranges })}>
          Change…
        </button>
        <button type="button" onClick={() => onTask({ action: 'delete', filter, ranges })}>
          Delete…
        </button>
        <button
          type="button"
          onClick={() => {
            selection.clear()
            onFocus()
          }}
        >
          Clear
        </button>
      </div>
    </section>
  )
}

function describe(count: PlantCount | undefined): string {
  if (count === undefined) return 'Some plants selected'
  const selected = `${formatNumber(count.plants)} selected`
  return count.isExact ? selected : `At least ${selected}`
}
