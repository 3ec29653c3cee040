import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { StoredPlant } from '../../client/client.ts'
import type { Table } from './use-table.ts'

/**
 * Scrolls a table so that rows that appear or disappear above those in view do not move them.
 *
 * @returns how far it has scrolled since the last rendering, in pixels
 */
export function useScrollAnchor({ scroller, list, query, viewport, rows }: Table) {
  const anchor = useRef<{ readonly plant: StoredPlant; readonly row: number } | undefined>(
    undefined,
  )
  const shift = useRef(0)
  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null) return
    // If the plant is moved, the others stay.
    const moved = anchor.current ? list.rankOf(anchor.current.plant) - anchor.current.row : 0
    const { scrollTop } = element
    const { rowHeight } = viewport
    if (moved !== 0 && scrollTop > 0) element.scrollTop += moved * rowHeight
    shift.current = element.scrollTop - scrollTop
    const plant = rows.get(Math.floor(element.scrollTop / rowHeight))
    anchor.current = plant && { plant, row: list.rankOf(plant) }
  })
  useEffect(() => {
    // Other plants begin at their top.
    if (scroller.current) scroller.current.scrollTop = 0
    anchor.current = undefined
  }, [query])
  return shift
}
