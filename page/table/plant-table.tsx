import type { ComponentChildren, RefObject } from 'preact'
import type { PlantView } from '../list/plant-view.ts'
import { memberLabel } from '../text/display-text.ts'
import { columnMembers, fieldArea, fieldTracks, isNumeric } from './field-columns.ts'
import { rowForKey } from './row-keys.ts'
import {
  columnCount,
  ExpandedRow,
  PlaceholderRow,
  type RowActions,
  TableRow,
} from './table-row.tsx'
import { useClickGuard } from './use-click-guard.ts'
import { useHold } from './use-hold.ts'
import { type FocusRequest, useRowFocus } from './use-row-focus.ts'
import { useScrollAnchor } from './use-scroll-anchor.ts'
import { type Table, useTable } from './use-table.ts'
import './table.css'

/** As in a spreadsheet. */
const OPENING_KEYS = ['Enter', 'F2', ' ']

/** A plant whose row is replaced by something higher. */
export interface Expanded {
  readonly id: bigint
  readonly content: ComponentChildren
}

interface RowsProps {
  readonly view: PlantView
  readonly expanded: Expanded | undefined
  /** What is to be said about a plant whose change is not saved. */
  readonly draftNote: (id: bigint) => string | undefined
  readonly actions: RowActions
}

interface TableProps extends RowsProps {
  readonly focusRequest: FocusRequest | undefined
  /** Called to focus the first plant of all, if the list begins later. */
  readonly onFirst: () => void
  /** Called to focus the last plant of all, if the list has not reached it. */
  readonly onLast: () => void
  readonly footer: ComponentChildren
}

/** A table of any length: only the rows in view are in the document. */
export function PlantTable({ focusRequest, onFirst, onLast, footer, ...rowsProps }: TableProps) {
  const { view, expanded, actions } = rowsProps
  const { list, marks } = view
  const table = useTable(view, expanded?.id)
  // In this order, because each scrolls the table, or looks at how far it was scrolled.
  const shift = useScrollAnchor(table)
  const { focusRow, onFocusIn, onFocusOut } = useRowFocus(table, focusRequest)
  const noteScroll = useClickGuard(table, shift)
  const holdHandlers = useHold(view, table.rowGroup)
  const { tracks } = fieldTracks()

  const onKeyDown = (event: KeyboardEvent) => {
    const { target, key } = event
    if (!(target instanceof Element) || target.closest('.expanded') || event.altKey) return
    const { active, rows, viewHeight, rowHeight } = table
    const move = rowForKey(key, active, list.length, viewHeight / rowHeight)
    const plant = rows.get(active)
    if (key === 'Home' && list.first !== undefined) onFirst()
    else if (key === 'End' && !list.isComplete) onLast()
    else if (move !== undefined) focusRow(move)
    // A key that is held down is meant for one plant.
    else if (plant === undefined || !target.matches('.plant-row') || event.repeat) return
    else if (marks.get(plant.id)?.mark === 'deleted') return
    else if (OPENING_KEYS.includes(key)) actions.onOpen(plant)
    else if (key === 'Delete' && actions.canWrite) actions.onDelete(plant)
    else return
    event.preventDefault()
  }

  const onDblClick = ({ target }: MouseEvent) => {
    if (!(target instanceof Element) || target.closest('a, button')) return
    const id = target.closest('.plant-row')?.getAttribute('data-id')
    const plant = [...table.rows.values()].find((each) => String(each?.id) === id)
    if (plant !== undefined && marks.get(plant.id)?.mark !== 'deleted') actions.onOpen(plant)
  }

  return (
    <div
      ref={table.scroller}
      class={columnMembers().length > 0 ? 'table with-fields' : 'table'}
      style={{
        '--id-width': `${table.idLength}ch`,
        '--field-tracks': tracks,
      }}
      onScroll={({ currentTarget: { scrollTop } }) => {
        noteScroll(scrollTop)
        table.setScrollTop(scrollTop)
      }}
    >
      <div
        role="grid"
        aria-label="Plants"
        aria-rowcount={list.isComplete ? list.length + 1 : -1}
        aria-colcount={columnCount()}
        aria-busy={view.loader.isLoading}
        hidden={list.length === 0}
        onKeyDown={onKeyDown}
        onFocusIn={onFocusIn}
        onFocusOut={onFocusOut}
      >
        <TableHead rowRef={table.head} />
        <div
          ref={table.rowGroup}
          role="rowgroup"
          class="rows"
          style={{ height: `${table.layout.height}px` }}
          {...holdHandlers}
          onDblClick={onDblClick}
          onPointerOver={explainCut}
        >
          <Rows table={table} {...rowsProps} />
        </div>
      </div>
      {footer}
    </div>
  )
}

/** Shows cut text in full as a tooltip. */
function explainCut({ target }: PointerEvent): void {
  const cell =
    target instanceof Element && target.closest<HTMLElement>('.name, .tag-cell .tag, .field-cell')
  if (cell) cell.title = cell.scrollWidth > cell.clientWidth ? cell.innerText : ''
}

function TableHead({ rowRef }: { readonly rowRef: RefObject<HTMLDivElement | null> }) {
  return (
    <div role="rowgroup" class="table-head" ref={rowRef}>
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
        {columnMembers().map((member, index) => (
          <div
            key={member.name}
            role="columnheader"
            class={isNumeric(member) ? 'field-cell numeric' : 'field-cell'}
            style={fieldArea(index)}
            title={member.schema.description}
          >
            {memberLabel(member)}
          </div>
        ))}
        <div role="columnheader" class="action-cell">
          <span class="for-screen-readers">Actions</span>
        </div>
      </div>
    </div>
  )
}

function Rows({
  table: { rows, layout, active, expandedRow },
  view: { marks },
  expanded,
  draftNote,
  actions,
}: RowsProps & { readonly table: Table }) {
  return [...rows]
    .sort(([a], [b]) => a - b)
    .map(([index, plant]) => {
      const place = { index, top: layout.top(index) }
      if (plant === undefined) return <PlaceholderRow key={`#${index}`} {...place} />
      const { id } = plant
      if (id === expanded?.id) {
        return (
          <ExpandedRow key={`expanded ${id}`} rowRef={expandedRow} {...place}>
            {expanded.content}
          </ExpandedRow>
        )
      }
      return (
        <TableRow
          key={String(id)}
          plant={plant}
          {...place}
          isActive={index === active}
          mark={marks.get(id)?.mark}
          draftNote={draftNote(id)}
          actions={actions}
        />
      )
    })
}
