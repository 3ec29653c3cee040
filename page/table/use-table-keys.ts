import type { PlantView } from '../list/plant-view.ts'
import type { PlantSelection } from '../selection/plant-selection.ts'
import { rowForKey } from './rows.ts'
import type { RowActions } from './table-row.tsx'
import type { Table } from './use-table.ts'

/** As in a spreadsheet. */
const OPENING_KEYS = ['Enter', 'F2', ' ']

interface TableKeysOptions {
  readonly view: PlantView
  readonly table: Table
  /** Undefined if nobody can select plants. */
  readonly selection: PlantSelection | undefined
  readonly actions: RowActions
  readonly focusRow: (index: number) => void
  readonly onFirst: () => void
  readonly onLast: () => void
}

/** Handles the keys of a table: they move the focus, select plants, and do something with the focused one. */
export function useTableKeys({
  view: { list, marks },
  table: {
    active,
    rows,
    viewport: { viewHeight, rowHeight },
  },
  selection,
  actions,
  focusRow,
  onFirst,
  onLast,
}: TableKeysOptions): (event: KeyboardEvent) => void {
  const plant = rows.get(active)
  const move = (index: number, isExtension: boolean) => {
    const target = Math.max(0, Math.min(index, list.length - 1))
    // A plant that is not in memory only gets the focus.
    const [next] = list.slice(target, target + 1)
    if (isExtension && plant && next) selection?.extendFrom(plant.id, next.id)
    focusRow(target)
  }
  return (event) => {
    const { target, key, shiftKey } = event
    if (!(target instanceof Element) || event.altKey) return
    const row = rowForKey(key, active, list.length, viewHeight / rowHeight)
    if (selection && isSelectAll(event)) selection.selectAll()
    else if (key === 'Home' && list.isCut) onFirst()
    else if (key === 'End' && !list.isComplete && list.order.sort === undefined) onLast()
    else if (row !== undefined) move(row, shiftKey)
    // A key that is held down is meant for one plant.
    else if (plant === undefined || !target.matches('.plant-row') || event.repeat) return
    else if (marks.get(plant.id)?.mark === 'deleted') return
    else if (selection && shiftKey && key === ' ') selection.toggle(plant.id)
    else if (OPENING_KEYS.includes(key)) actions.onOpen(plant)
    else if (key === 'Delete' && actions.canWrite) actions.onDelete(plant)
    else return
    event.preventDefault()
  }
}

function isSelectAll({ key, ctrlKey, metaKey }: KeyboardEvent): boolean {
  return key.toLowerCase() === 'a' && (ctrlKey || metaKey)
}
