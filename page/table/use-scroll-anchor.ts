import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { Table } from './use-table.ts'

/**
 * Scrolls a table so that rows that appear or disappear above those in view do not move them.
 *
 * @returns how far it has scrolled since the last rendering, in pixels
 */
export function useScrollAnchor({ scroller, list, selection, layout, rows }: Table) {
  const anchor = useRef<{ readonly id: bigint; readonly top: number } | undefined>(undefined)
  const shift = useRef(0)
  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null) return
    const { id, top } = anchor.current ?? {}
    const moved = id === undefined || top === undefined ? 0 : layout.top(list.rank(id)) - top
    const { scrollTop } = element
    if (moved !== 0 && scrollTop > 0) element.scrollTop += moved
    shift.current = element.scrollTop - scrollTop
    const plant = rows.get(layout.indexAt(element.scrollTop))
    anchor.current = plant && { id: plant.id, top: layout.top(list.rank(plant.id)) }
  })
  useEffect(() => {
    // A new selection begins at its top.
    if (scroller.current) scroller.current.scrollTop = 0
    anchor.current = undefined
  }, [selection])
  return shift
}
