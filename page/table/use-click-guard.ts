import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Table } from './use-table.ts'

/** How long the rows' buttons do nothing after rows have moved, in milliseconds: a click is meant for what was there. */
const SETTLE_MS = 500

/** Disables the rows' buttons for a moment. */
export function ignoreClicks({ rowGroup }: Table): void {
  rowGroup.current?.animate({ '--row-events': ['none', 'none'] }, SETTLE_MS)
}

/**
 * Disables the rows' buttons for a moment if rows have moved, except by scrolling.
 *
 * @param shift how far the table has scrolled since the last rendering, without the person
 * @returns a function to call when the table has been scrolled, with its new position
 */
export function useClickGuard(table: Table, shift: RefObject<number>): (scrollTop: number) => void {
  /** Where the rows were in the document, and how far the person had scrolled. */
  const seen = useRef({ tops: new Map<bigint, number>(), scrollTop: 0 })
  useLayoutEffect(() => {
    const { viewport, rows } = table
    const element = table.scroller.current
    if (element === null) return
    const tops = new Map<bigint, number>()
    for (const [index, plant] of rows) {
      if (plant !== undefined) tops.set(plant.id, element.offsetTop + index * viewport.rowHeight)
    }
    // While all plants are being loaded again, none has a place.
    if (tops.size === 0) return
    const before = seen.current
    // The browser keeps it in range.
    const scrollTopMax = element.scrollHeight - element.clientHeight
    const scrolled = Math.min(before.scrollTop + shift.current, scrollTopMax) - before.scrollTop
    seen.current = { tops, scrollTop: element.scrollTop }
    const hasMoved = [...tops].some(([id, top]) => {
      const earlier = before.tops.get(id)
      return earlier !== undefined && Math.abs(top - earlier - scrolled) >= 1
    })
    if (hasMoved) ignoreClicks(table)
  })
  return (scrollTop) => {
    seen.current.scrollTop = scrollTop
  }
}
