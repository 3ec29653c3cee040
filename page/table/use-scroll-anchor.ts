import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { StoredPlant } from '../../client/client.ts'
import type { Table } from './use-table.ts'

/**
 * Scrolls a table so that rows that appear or disappear above those in view do not move them.
 *
 * @returns how far it has scrolled since the last rendering, in pixels
 */
export function useScrollAnchor({ scroller, list, selection, layout, rows }: Table) {
  const anchor = useRef<{ readonly plant: StoredPlant; readonly top: number } | undefined>(
    undefined,
  )
  const shift = useRef(0)
  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null) return
    // If the plant is moved, the others stay.
    const moved = anchor.current
      ? layout.top(list.rankOf(anchor.current.plant)) - anchor.current.top
      : 0
    const { scrollTop } = element
    if (moved !== 0 && scrollTop > 0) element.scrollTop += moved
    shift.current = element.scrollTop - scrollTop
    const plant = rows.get(layout.indexAt(element.scrollTop))
    anchor.current = plant && { plant, top: layout.top(list.rankOf(plant)) }
  })
  useEffect(() => {
    // A new selection begins at its top.
    if (scroller.current) scroller.current.scrollTop = 0
    anchor.current = undefined
  }, [selection])
  return shift
}
