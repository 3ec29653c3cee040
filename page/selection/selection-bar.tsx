import type { PlantCount } from '../../client/client.ts'
import type { PlantView } from '../list/plant-view.ts'
import { useModel } from '../model/use-model.ts'
import { Icon } from '../text/icon.tsx'
import { formatNumber } from '../text/intl.ts'
import type { PlantSelection } from './plant-selection.ts'
import { countSelected } from './selected-count.ts'
import type { Task } from './task.ts'

/** Says how many plants are selected, and what to do with them. */
export function SelectionBar({
  view,
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
  useModel(view)
  useModel(selection)
  const { ranges } = selection
  const { list, total, gone } = view
  const { filter } = list
  return (
    <section class="selection-bar row" aria-label="Selected plants">
      <button
        type="button"
        class="quiet"
        aria-label="Clear"
        title="Clear the selection"
        onClick={() => {
          selection.clear()
          onFocus()
        }}
      >
        <Icon name="close" />
      </button>
      <p role="status">{describe(countSelected(ranges, list, total, gone))}</p>
      {/* A phone has no head of the table. */}
      {!ranges.isAll && (
        <button
          type="button"
          class="select-all"
          aria-label="Select all"
          onClick={() => {
            selection.selectAll()
            onFocus()
          }}
        >
          All
        </button>
      )}
      <button type="button" onClick={() => onTask({ action: 'change', filter, ranges })}>
        Change…
      </button>
      <button
        type="button"
        class="danger"
        onClick={() => onTask({ action: 'delete', filter, ranges })}
      >
        Delete…
      </button>
    </section>
  )
}

function describe(count: PlantCount | undefined): string {
  if (count === undefined) return 'Some plants selected'
  const selected = `${formatNumber(count.plants)} selected`
  return count.isExact ? selected : `At least ${selected}`
}
