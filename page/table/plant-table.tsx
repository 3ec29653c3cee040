import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { StoredPlant } from '../../client/client.ts'
import type { PlantView } from '../list/plant-view.ts'
import { isTypingOutside } from '../list/surroundings.ts'
import { RowLayout } from './row-layout.ts'
import { PlaceholderRow, type RowActions, TableRow } from './table-row.tsx'
import './table.css'

/** Rows that are rendered above and below those in view, so that fast scrolling shows no gaps. */
const OVERSCAN = 8

const ROW_HEIGHT = 44
/** On a phone, a row has two lines. */
const PHONE_ROW_HEIGHT = 64
/** In characters. */
const ID_LENGTH_MIN = 5

/** How long the rows' buttons do nothing after rows have moved, in milliseconds: a click is meant for what was there. */
const SETTLE_MS = 500

/** As in main.css. */
const PHONE = matchMedia('(max-width: 640px)')

/** A row that is replaced by something higher. */
export interface Expanded {
  readonly id: bigint
  readonly content: ComponentChildren
}

/** Asks the table to focus a plant, or the row that has the focus by default. */
export interface FocusRequest {
  readonly id?: bigint | undefined
}

/** A table of any length: only the rows in view are in the document. */
export function PlantTable({
  view,
  expanded,
  focusRequest,
  draftNote,
  actions,
  footer,
}: {
  readonly view: PlantView
  readonly expanded: Expanded | undefined
  readonly focusRequest: FocusRequest | undefined
  /** What is to be said about a plant whose change is not saved. */
  readonly draftNote: (id: bigint) => string | undefined
  readonly actions: RowActions
  readonly footer: ComponentChildren
}) {
  const { list, marks } = view
  const scroller = useRef<HTMLDivElement>(null)
  const head = useRef<HTMLDivElement>(null)
  const rowGroup = useRef<HTMLDivElement>(null)
  const expandedRow = useRef<HTMLDivElement>(null)
  const [scrollTop, setScrollTop] = useState(0)
  // The head stays at the top.
  const viewHeight = useHeight(scroller, undefined) - useHeight(head, undefined)
  const expandedHeight = useHeight(expandedRow, expanded?.id)
  const rowHeight = useRowHeight()
  const [activeId, setActiveId] = useState<bigint>()
  /** The row to focus once it is loaded. */
  const wanted = useRef<number | undefined>(undefined)
  const hasFocus = useRef(false)
  const idLength = useRef(ID_LENGTH_MIN)
  const anchor = useRef<{ readonly id: bigint; readonly top: number } | undefined>(undefined)
  /** Where the rows were in the document, and how far the person had scrolled. */
  const seen = useRef({ tops: new Map<bigint, number>(), scrollTop: 0 })

  const { length } = list
  const expandedIndex = expanded && list.rank(expanded.id)
  const layout = new RowLayout(
    length,
    rowHeight,
    expandedIndex === undefined ? undefined : { index: expandedIndex, height: expandedHeight },
  )
  // Safari scrolls beyond the top, and back.
  const firstVisible = Math.max(0, layout.indexAt(scrollTop))
  const from = Math.max(0, firstVisible - OVERSCAN)
  const to = Math.min(length, layout.indexAt(scrollTop + viewHeight) + 1 + OVERSCAN)
  const active = Math.min(activeId === undefined ? firstVisible : list.rank(activeId), length - 1)

  const rows = new Map(list.slice(from, to).map((plant, offset) => [from + offset, plant]))
  // These have, or can get, the focus, so they stay in the document.
  for (const index of [active, expandedIndex]) {
    if (index !== undefined && index >= 0 && !rows.has(index))
      rows.set(index, list.slice(index, index + 1)[0])
  }

  const focusRow = (index: number) => {
    wanted.current = Math.max(0, Math.min(index, length - 1))
    const element = scroller.current
    if (element === null) return
    const top = layout.reveal(wanted.current, element.scrollTop, viewHeight)
    if (top !== element.scrollTop) ignoreClicks()
    element.scrollTop = top
    focusWanted()
  }
  const focusWanted = () => {
    const index = wanted.current
    const plant = index === undefined ? undefined : list.slice(index, index + 1)[0]
    if (plant === undefined) return
    if (plant.id !== activeId) setActiveId(plant.id)
    const row = scroller.current?.querySelector<HTMLElement>(`[data-id="${plant.id}"]`)
    if (!row) return
    wanted.current = undefined
    row.focus({ preventScroll: true })
  }

  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null) return
    // Rows that appear or disappear above do not move those in view.
    const { id, top } = anchor.current ?? {}
    const shift = id === undefined || top === undefined ? 0 : layout.top(list.rank(id)) - top
    const { scrollTop } = element
    if (shift !== 0 && scrollTop > 0) element.scrollTop += shift
    const shifted = element.scrollTop - scrollTop
    const plant = rows.get(layout.indexAt(element.scrollTop))
    anchor.current = plant && { id: plant.id, top: layout.top(list.rank(plant.id)) }
    const { activeElement } = document
    const isFocusFree = activeElement === document.body
    // The person has gone on before the row was loaded.
    if (!isFocusFree && !element.contains(activeElement)) wanted.current = undefined
    if (wanted.current !== undefined) focusWanted()
    // The row that had the focus has disappeared, rather than become an editor.
    else if (hasFocus.current && isFocusFree && active !== expandedIndex) focusRow(active)
    settle(element, shifted)
  })

  /** Disables the rows' buttons for a moment if rows have moved, except by scrolling. */
  const settle = (element: HTMLElement, shift: number) => {
    const tops = new Map<bigint, number>()
    for (const [index, plant] of rows) {
      if (plant !== undefined) tops.set(plant.id, element.offsetTop + layout.top(index))
    }
    // While all plants are being loaded again, none has a place.
    if (tops.size === 0) return
    const before = seen.current
    // The browser keeps it in range.
    const scrollTopMax = element.scrollHeight - element.clientHeight
    const scrolled = Math.min(before.scrollTop + shift, scrollTopMax) - before.scrollTop
    seen.current = { tops, scrollTop: element.scrollTop }
    const hasMoved = [...tops].some(([id, top]) => {
      const earlier = before.tops.get(id)
      return earlier !== undefined && Math.abs(top - earlier - scrolled) >= 1
    })
    if (hasMoved) ignoreClicks()
  }
  const ignoreClicks = () => {
    rowGroup.current?.animate({ '--row-events': ['none', 'none'] }, SETTLE_MS)
  }

  useEffect(() => {
    const kept = [activeId, expanded?.id].filter((id) => id !== undefined)
    view.show(firstVisible, to, kept)
  }, [view, view.loader, firstVisible, to, activeId, expanded?.id])

  useEffect(() => {
    // A new selection begins at its top.
    if (scroller.current) scroller.current.scrollTop = 0
    anchor.current = undefined
    wanted.current = undefined
    setActiveId(undefined)
  }, [view.selection])

  useEffect(() => {
    if (focusRequest === undefined || !scroller.current) return
    if (isTypingOutside(scroller.current)) return
    const { id = activeId } = focusRequest
    focusRow(id === undefined ? firstVisible : list.rank(id))
  }, [focusRequest])

  useEffect(() => {
    const release = ({ target }: PointerEvent) => {
      if (!rowGroup.current?.contains(target as Node)) view.hold(false)
    }
    addEventListener('pointerdown', release)
    return () => removeEventListener('pointerdown', release)
  }, [view])

  const onKeyDown = (event: KeyboardEvent) => {
    const target = event.target as HTMLElement
    if (target.closest('.expanded') || event.altKey) return
    const page = Math.max(1, Math.floor(viewHeight / rowHeight) - 1)
    const moves: Readonly<Record<string, number>> = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      PageDown: active + page,
      PageUp: active - page,
      Home: 0,
      End: length - 1,
    }
    const move = moves[event.key]
    const plant = rows.get(active)
    if (move !== undefined) focusRow(move)
    // A key that is held down is meant for one plant.
    else if (plant === undefined || !target.matches('.plant-row') || event.repeat) return
    else if (marks.get(plant.id)?.mark === 'deleted') return
    else if (event.key === 'Enter') actions.onOpen(plant)
    else if (event.key === 'Delete' && actions.canWrite) actions.onDelete(plant)
    else return
    event.preventDefault()
  }

  const renderRow = (index: number, plant: StoredPlant | undefined) => {
    const top = layout.top(index)
    if (plant === undefined) return <PlaceholderRow key={`#${index}`} index={index} top={top} />
    const { id } = plant
    if (id === expanded?.id) {
      return (
        <div
          key={`expanded ${id}`}
          ref={expandedRow}
          role="row"
          class="expanded"
          aria-rowindex={index + 2}
          style={{ transform: `translateY(${top}px)` }}
        >
          <div role="gridcell" aria-colspan={4}>
            {expanded.content}
          </div>
        </div>
      )
    }
    return (
      <TableRow
        key={String(id)}
        plant={plant}
        index={index}
        top={top}
        isActive={index === active}
        mark={marks.get(id)?.mark}
        draftNote={draftNote(id)}
        actions={actions}
      />
    )
  }

  // The columns do not move while one scrolls.
  for (const plant of rows.values()) {
    idLength.current = Math.max(idLength.current, String(plant?.id ?? '').length)
  }
  return (
    <div
      ref={scroller}
      class="table"
      style={{ '--id-width': `${idLength.current}ch` }}
      onScroll={({ currentTarget: { scrollTop } }) => {
        seen.current.scrollTop = scrollTop
        setScrollTop(scrollTop)
      }}
    >
      <div
        role="grid"
        aria-label="Plants"
        aria-rowcount={list.isComplete ? length + 1 : -1}
        aria-colcount={4}
        aria-busy={view.loader.isLoading}
        hidden={length === 0}
        onKeyDown={onKeyDown}
        onFocusIn={(event) => {
          hasFocus.current = true
          const row = (event.target as HTMLElement).closest<HTMLElement>('[data-id]')
          if (row?.dataset.id !== undefined) setActiveId(BigInt(row.dataset.id))
        }}
        onFocusOut={(event) => {
          const { target, currentTarget, relatedTarget } = event
          if (relatedTarget instanceof Node && currentTarget.contains(relatedTarget)) return
          // A row that disappears with the focus hands it on.
          queueMicrotask(() => {
            if ((target as Node).isConnected) hasFocus.current = false
          })
        }}
      >
        <div role="rowgroup" class="table-head" ref={head}>
          <div role="row" aria-rowindex={1}>
            <div role="columnheader" class="id-cell">
              Id
            </div>
            <div role="columnheader" class="name-cell">
              Name
            </div>
            <div role="columnheader" class="tag-cell">
              Tag
            </div>
            <div role="columnheader" class="action-cell">
              <span class="for-screen-readers">Actions</span>
            </div>
          </div>
        </div>
        <div
          ref={rowGroup}
          role="rowgroup"
          class="rows"
          style={{ height: `${layout.height}px` }}
          onPointerEnter={() => view.hold(true)}
          onPointerLeave={({ pointerType }) => {
            // A finger leaves the screen after each tap, and usually comes back to the same place.
            if (pointerType !== 'touch') view.hold(false)
          }}
        >
          {[...rows].sort(([a], [b]) => a - b).map((entry) => renderRow(...entry))}
        </div>
      </div>
      {footer}
    </div>
  )
}

/** The height of an element, which can appear later. */
function useHeight(ref: RefObject<HTMLElement | null>, dependency: unknown): number {
  const [height, setHeight] = useState(0)
  useLayoutEffect(() => {
    const element = ref.current
    if (element === null) return
    const measure = () => setHeight(element.offsetHeight)
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    measure()
    return () => observer.disconnect()
  }, [dependency])
  return height
}

function useRowHeight(): number {
  const [isPhone, setPhone] = useState(PHONE.matches)
  useEffect(() => {
    const change = () => setPhone(PHONE.matches)
    PHONE.addEventListener('change', change)
    return () => PHONE.removeEventListener('change', change)
  }, [])
  return isPhone ? PHONE_ROW_HEIGHT : ROW_HEIGHT
}
