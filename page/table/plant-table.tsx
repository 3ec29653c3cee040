import type { ComponentChildren } from 'preact'
import { wordsOf } from '../list/filter.ts'
import type { PlantView } from '../list/plant-view.ts'
import type { PlantSelection } from '../selection/plant-selection.ts'
import { columnMembers, fieldTracks } from './field-columns.ts'
import { TableHead } from './table-head.tsx'
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
import { useRowSelection } from './use-row-selection.ts'
import { useScrollAnchor } from './use-scroll-anchor.ts'
import { type Table, useTable } from './use-table.ts'
import { useTableKeys } from './use-table-keys.ts'
import './table.css'

/** A plant whose row is replaced by something higher. */
export interface Expanded {
  readonly id: bigint
  readonly content: ComponentChildren
}

interface RowsProps {
  readonly view: PlantView
  /** Undefined if nobody can select plants. */
  readonly selection: PlantSelection | undefined
  readonly expanded: Expanded | undefined
  /** What is to be said about a plant whose change is not saved. */
  readonly draftNote: (id: bigint) => string | undefined
  readonly actions: RowActions
}

interface TableProps extends RowsProps {
  readonly focusRequest: FocusRequest | undefined
  readonly onSort: (sort: string | undefined) => void
  /** Called to focus the first plant of all, if the list begins later. */
  readonly onFirst: () => void
  /** Called to focus the last plant of all, if the list has not reached it. */
  readonly onLast: () => void
  readonly footer: ComponentChildren
}

/** A table of any length: only the rows in view are in the document. */
export function PlantTable({
  focusRequest,
  onSort,
  onFirst,
  onLast,
  footer,
  ...rowsProps
}: TableProps) {
  const { view, selection, expanded, actions } = rowsProps
  const { list, marks } = view
  const table = useTable(view, selection, expanded?.id)
  // In this order, because each scrolls the table, or looks at how far it was scrolled.
  const shift = useScrollAnchor(table)
  const { focusRow, onFocusIn, onFocusOut } = useRowFocus(table, focusRequest)
  const noteScroll = useClickGuard(table, shift)
  const holdHandlers = useHold(view, table.rowGroup)
  const selectionHandlers = useRowSelection(selection)
  const onKeyDown = useTableKeys({ view, table, selection, actions, focusRow, onFirst, onLast })
  const { tracks } = fieldTracks()

  const onDblClick = ({ target }: MouseEvent) => {
    if (!(target instanceof Element) || target.closest('a, button, .select-cell')) return
    const id = target.closest('.plant-row')?.getAttribute('data-id')
    const plant = [...table.rows.values()].find((each) => String(each?.id) === id)
    if (plant !== undefined && marks.get(plant.id)?.mark !== 'deleted') actions.onOpen(plant)
  }
  const classes = [
    'table',
    columnMembers().length > 0 && 'with-fields',
    selection && 'selectable',
  ].filter(Boolean)

  return (
    <div
      ref={table.scroller}
      class={classes.join(' ')}
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
        aria-colcount={columnCount(selection !== undefined)}
        aria-multiselectable={selection && true}
        aria-busy={view.loader.isLoading}
        hidden={list.length === 0 && list.isComplete}
        onKeyDown={onKeyDown}
        onFocusIn={onFocusIn}
        onFocusOut={onFocusOut}
      >
        <TableHead rowRef={table.head} {...{ list, selection, onSort }} />
        <div
          ref={table.rowGroup}
          role="rowgroup"
          class="rows"
          style={{ height: `${table.layout.height}px` }}
          {...holdHandlers}
          {...selectionHandlers}
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

function Rows({
  table: { rows, layout, active, expandedRow },
  view: { list, marks },
  selection,
  expanded,
  draftNote,
  actions,
}: RowsProps & { readonly table: Table }) {
  const words = wordsOf(list.filter)
  return [...rows]
    .sort(([a], [b]) => a - b)
    .map(([index, plant]) => {
      const place = { index, top: layout.top(index) }
      if (plant === undefined) return <PlaceholderRow key={`#${index}`} {...place} />
      const { id } = plant
      if (id === expanded?.id) {
        return (
          <ExpandedRow
            key={`expanded ${id}`}
            rowRef={expandedRow}
            columns={columnCount(selection !== undefined)}
            {...place}
          >
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
          isSelected={selection?.ranges.has(id)}
          mark={marks.get(id)?.mark}
          draftNote={draftNote(id)}
          words={words}
          actions={actions}
        />
      )
    })
}
