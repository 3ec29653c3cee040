import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { PlantView } from '../list/plant-view.ts'
import type { PlantSelection } from '../selection/plant-selection.ts'
import { visibleRows } from './rows.ts'

/** In pixels. */
const ROW_HEIGHT = 36
/** On a phone, a row has two lines. */
const PHONE_ROW_HEIGHT = 56

/** As in main.css. */
const PHONE = matchMedia('(max-width: 640px)')

/** In characters. */
const ID_LENGTH_MIN = 5

/** What a table renders, and where. */
export type Table = ReturnType<typeof useTable>

/**
 * Measures a table, chooses the rows to render, and loads their plants.
 *
 * @param openId the plant that is being edited or viewed
 */
export function useTable(
  view: PlantView,
  selected: PlantSelection | undefined,
  openId: bigint | undefined,
) {
  const { list, loader, query } = view
  const scroller = useRef<HTMLDivElement>(null)
  const head = useRef<HTMLDivElement>(null)
  const rowGroup = useRef<HTMLDivElement>(null)
  const idLength = useRef(ID_LENGTH_MIN)
  const [scrollTop, setScrollTop] = useState(0)
  const [activeId, setActiveId] = useState<bigint>()
  const { viewHeight, rowHeight } = useHeights(scroller, head)

  const viewport = { scrollTop, viewHeight, rowHeight }
  const { first, from, to } = visibleRows(viewport, list.length)
  const active = Math.min(activeId === undefined ? first : list.rank(activeId), list.length - 1)
  const rows = new Map(list.slice(from, to).map((plant, offset) => [from + offset, plant]))
  // It has, or can get, the focus, so it stays in the document.
  if (active >= 0 && !rows.has(active)) rows.set(active, list.slice(active, active + 1)[0])
  // The columns do not move while one scrolls.
  for (const plant of rows.values()) {
    idLength.current = Math.max(idLength.current, String(plant?.id ?? '').length)
  }

  useEffect(() => {
    const kept = [activeId, openId, ...(selected?.kept ?? [])].filter((id) => id !== undefined)
    view.load(first, to, kept)
  }, [view, loader, first, to, activeId, openId, selected?.ranges])
  // Other plants begin at their top.
  useEffect(() => setActiveId(undefined), [query])

  return {
    scroller,
    head,
    rowGroup,
    list,
    isLoading: loader.isLoading,
    query,
    viewport,
    /** The first row in view. */
    first,
    /** The rendered rows by index. Undefined for plants that are not loaded yet. */
    rows,
    /** The row that has the focus or gets it with the Tab key, or -1 without any rows. */
    active,
    activeId,
    setActiveId,
    setScrollTop,
    idLength: idLength.current,
  }
}

/** The height of what is in view below the head, and of each row. */
function useHeights(
  scroller: Table['scroller'],
  head: Table['head'],
): { readonly viewHeight: number; readonly rowHeight: number } {
  const [viewHeight, setViewHeight] = useState(0)
  const [isPhone, setPhone] = useState(PHONE.matches)
  useLayoutEffect(() => {
    const measure = () => {
      const { clientHeight = 0 } = scroller.current ?? {}
      setViewHeight(clientHeight - (head.current?.offsetHeight ?? 0))
    }
    const observer = new ResizeObserver(measure)
    for (const { current } of [scroller, head]) if (current) observer.observe(current)
    const change = () => setPhone(PHONE.matches)
    PHONE.addEventListener('change', change)
    measure()
    return () => {
      observer.disconnect()
      PHONE.removeEventListener('change', change)
    }
  }, [])
  return { viewHeight, rowHeight: isPhone ? PHONE_ROW_HEIGHT : ROW_HEIGHT }
}
