import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { isTypingOutside } from '../list/surroundings.ts'
import { revealRow } from './rows.ts'
import { ignoreClicks } from './use-click-guard.ts'
import type { Table } from './use-table.ts'

/** Asks the table to focus a plant, or one end of the list once it is loaded, or the row that has the focus by default. */
export interface FocusRequest {
  readonly id?: bigint | undefined
  readonly edge?: 'first' | 'last'
}

/**
 * Moves the focus between rows, and keeps it in the table when the row that has it disappears.
 *
 * @param focusTable gets the function that asks the table to focus something
 * @returns a function that scrolls to a row and focuses it, and handlers of the table's focus events
 */
export function useRowFocus(table: Table, focusTable: RefObject<(request: FocusRequest) => void>) {
  // At first, the row that has the focus by default.
  const [request, setRequest] = useState<FocusRequest>({})
  focusTable.current = setRequest
  const { scroller, list, isLoading, query, viewport, active, activeId, setActiveId } = table
  /** The row to focus once it is loaded, or the id of its plant. */
  const wanted = useRef<number | bigint | undefined>(undefined)
  const wantedEdge = useRef<FocusRequest['edge']>(undefined)
  const hasFocus = useRef(false)

  const reveal = (index: number) => {
    const element = scroller.current
    if (element === null) return
    const top = revealRow(index, { ...viewport, scrollTop: element.scrollTop })
    if (top !== element.scrollTop) ignoreClicks(table)
    element.scrollTop = top
  }
  const focusRow = (index: number) => {
    wanted.current = Math.max(0, Math.min(index, list.length - 1))
    reveal(wanted.current)
    focusWanted()
  }
  const focusPlant = (id: bigint) => {
    wanted.current = id
    focusWanted()
  }
  const focusWanted = () => {
    const { current: target } = wanted
    if (target === undefined) return
    const isPlant = typeof target === 'bigint'
    const index = isPlant ? Math.max(0, Math.min(list.rank(target), list.length - 1)) : target
    const [plant] = list.slice(index, index + 1)
    // Its row is not known until the plants around it are loaded.
    if (isPlant && (plant !== undefined || !isLoading)) reveal(index)
    if (plant === undefined) return
    if (plant.id !== activeId) setActiveId(plant.id)
    const row = scroller.current?.querySelector<HTMLElement>(`[data-id="${plant.id}"]`)
    if (!row) return
    wanted.current = undefined
    row.focus({ preventScroll: true })
  }

  const focusEdge = (edge: 'first' | 'last') => {
    const row = edge === 'first' ? 0 : list.length - 1
    if (list.length === 0 || (edge === 'last' && !list.isComplete)) return
    wantedEdge.current = undefined
    if (scroller.current && !isTypingOutside(scroller.current)) focusRow(row)
  }

  useLayoutEffect(() => {
    const { activeElement } = document
    const isFocusFree = activeElement === document.body
    // The person has gone on before the row was loaded.
    if (!isFocusFree && !scroller.current?.contains(activeElement)) wanted.current = undefined
    if (wanted.current !== undefined) focusWanted()
    else if (wantedEdge.current !== undefined) focusEdge(wantedEdge.current)
    // The row that had the focus has disappeared.
    else if (hasFocus.current && isFocusFree) {
      if (activeId === undefined) focusRow(active)
      else focusPlant(activeId)
    }
  })
  useEffect(() => {
    wanted.current = undefined
  }, [query])
  useEffect(() => {
    if (!scroller.current) return
    const { edge, id = activeId } = request
    wantedEdge.current = edge
    if (edge !== undefined) focusEdge(edge)
    else if (isTypingOutside(scroller.current)) return
    else if (id === undefined) focusRow(table.first)
    else focusPlant(id)
  }, [request])

  const onFocusIn = ({ target }: FocusEvent) => {
    hasFocus.current = true
    const row = target instanceof Element && target.closest<HTMLElement>('[data-id]')
    if (row && row.dataset.id !== undefined) setActiveId(BigInt(row.dataset.id))
  }
  const onFocusOut = ({ target, currentTarget, relatedTarget }: FocusEvent) => {
    const isInTable =
      currentTarget instanceof Node &&
      relatedTarget instanceof Node &&
      currentTarget.contains(relatedTarget)
    if (isInTable) return
    // A row that disappears with the focus hands it on.
    queueMicrotask(() => {
      if (target instanceof Node && target.isConnected) hasFocus.current = false
    })
  }
  return { focusRow, onFocusIn, onFocusOut }
}
