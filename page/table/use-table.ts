import { useEffect, useRef, useState } from 'preact/hooks'
import type { PlantView } from '../list/plant-view.ts'
import type { PlantSelection } from '../selection/plant-selection.ts'
import { RowLayout } from './row-layout.ts'
import { useHeight, useRowHeight } from './use-height.ts'

/** In characters. */
const ID_LENGTH_MIN = 5

/** What a table renders, and where. */
export type Table = ReturnType<typeof useTable>

/**
 * Measures a table, chooses the rows to render, and loads their plants.
 *
 * @param expandedId the plant whose row is replaced by something higher
 */
export function useTable(
  view: PlantView,
  selected: PlantSelection | undefined,
  expandedId: bigint | undefined,
) {
  const { list, loader, selection } = view
  const scroller = useRef<HTMLDivElement>(null)
  const head = useRef<HTMLDivElement>(null)
  const rowGroup = useRef<HTMLDivElement>(null)
  const expandedRow = useRef<HTMLDivElement>(null)
  const idLength = useRef(ID_LENGTH_MIN)
  const [scrollTop, setScrollTop] = useState(0)
  const [activeId, setActiveId] = useState<bigint>()
  // The head stays at the top.
  const viewHeight = useHeight(scroller, undefined, 'clientHeight') - useHeight(head)
  const expandedHeight = useHeight(expandedRow, expandedId)
  const rowHeight = useRowHeight()

  const expandedIndex = expandedId === undefined ? undefined : list.rank(expandedId)
  const layout = new RowLayout(
    list.length,
    rowHeight,
    expandedIndex === undefined ? undefined : { index: expandedIndex, height: expandedHeight },
  )
  const { first, from, to } = layout.visible(scrollTop, viewHeight)
  const active = Math.min(activeId === undefined ? first : list.rank(activeId), list.length - 1)
  const rows = new Map(list.slice(from, to).map((plant, offset) => [from + offset, plant]))
  // These have, or can get, the focus, so they stay in the document.
  for (const index of [active, expandedIndex]) {
    if (index !== undefined && index >= 0 && !rows.has(index))
      rows.set(index, list.slice(index, index + 1)[0])
  }
  // The columns do not move while one scrolls.
  for (const plant of rows.values()) {
    idLength.current = Math.max(idLength.current, String(plant?.id ?? '').length)
  }

  useEffect(() => {
    const kept = [activeId, expandedId, ...(selected?.kept ?? [])].filter((id) => id !== undefined)
    view.show(first, to, kept)
  }, [view, loader, first, to, activeId, expandedId, selected?.ranges])
  // A new selection begins at its top.
  useEffect(() => setActiveId(undefined), [selection])

  return {
    scroller,
    head,
    rowGroup,
    expandedRow,
    list,
    selection,
    layout,
    /** The first row in view. */
    first,
    /** The rendered rows by index. Undefined for plants that are not loaded yet. */
    rows,
    viewHeight,
    rowHeight,
    expandedIndex,
    /** The row that has the focus or gets it with the Tab key, or -1 without any rows. */
    active,
    activeId,
    setActiveId,
    setScrollTop,
    idLength: idLength.current,
  }
}
