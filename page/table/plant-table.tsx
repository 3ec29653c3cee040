import type { RefObject } from 'preact'
import { useMemo } from 'preact/hooks'
import type { Drafts } from '../drafts/drafts.ts'
import { wordsOf } from '../list/filter.ts'
import type { PlantView } from '../list/plant-view.ts'
import { useModel } from '../model/use-model.ts'
import type { PlantSelection } from '../selection/plant-selection.ts'
import { columnMembers, fieldTracks } from './field-columns.ts'
import { ListFooter } from './list-footer.tsx'
import { TableHead } from './table-head.tsx'
import { columnCount, PlaceholderRow, type RowActions, TableRow } from './table-row.tsx'
import { useClickGuard } from './use-click-guard.ts'
import { useHold } from './use-hold.ts'
import { type FocusRequest, useRowFocus } from './use-row-focus.ts'
import { useRowSelection } from './use-row-selection.ts'
import { useScrollAnchor } from './use-scroll-anchor.ts'
import { type Table, useTable } from './use-table.ts'
import { useTableKeys } from './use-table-keys.ts'

interface RowsProps {
  readonly view: PlantView
  readonly drafts: Drafts
  /** The plant that is shown in full, for those who cannot edit it. */
  readonly viewedId: bigint | undefined
  /** Undefined if nobody can select plants. */
  readonly selection: PlantSelection | undefined
  readonly actions: RowActions
}

interface TableProps extends RowsProps {
  /** Gets the function that asks the table to focus something. */
  readonly focusTable: RefObject<(request: FocusRequest) => void>
  readonly onSort: (sort: string | undefined) => void
  /** Called to focus the first plant of all, if the list begins later. */
  readonly onFirst: () => void
  /** Called to focus the last plant of all, if the list has not reached it. */
  readonly onLast: () => void
}

/** A table of any length: only the rows in view are in the document. */
export function PlantTable({ focusTable, onSort, onFirst, onLast, ...rowsProps }: TableProps) {
  const { view, drafts, viewedId, selection, actions } = rowsProps
  useModel(view)
  useModel(drafts)
  useModel(selection)
  const { list, marks } = view
  const openId = drafts.open?.before?.id ?? viewedId
  const table = useTable(view, selection, openId)
  // In this order, because each scrolls the table, or looks at how far it was scrolled.
  const shift = useScrollAnchor(table)
  const { focusRow, onFocusIn, onFocusOut } = useRowFocus(table, focusTable)
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
    'table surface',
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
        '--row-height': `${table.viewport.rowHeight}px`,
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
        <TableHead
          rowRef={table.head}
          {...{ filter: list.filter, sort: list.order.sort, selection, onSort }}
          ranges={selection?.ranges}
        />
        <div
          ref={table.rowGroup}
          role="rowgroup"
          class="rows"
          style={{ '--rows': list.length }}
          {...holdHandlers}
          {...selectionHandlers}
          onDblClick={onDblClick}
          onPointerOver={explainCut}
        >
          <Rows {...{ table, openId }} {...rowsProps} />
        </div>
      </div>
      <ListFooter view={view} canWrite={actions.canWrite} />
    </div>
  )
}

/** Shows cut text in full as a tooltip. */
function explainCut({ target }: PointerEvent): void {
  const cell = target instanceof Element && target.closest<HTMLElement>('.tag, .cut')
  if (cell) cell.title = cell.scrollWidth > cell.clientWidth ? cell.innerText : ''
}

function Rows({
  table: { rows, active },
  openId,
  view: { list, marks },
  drafts,
  selection,
  actions,
}: RowsProps & { readonly table: Table; readonly openId: bigint | undefined }) {
  const { filter } = list
  const words = useMemo(() => wordsOf(filter), [filter])
  return [...rows]
    .sort(([a], [b]) => a - b)
    .map(([index, plant]) => {
      if (plant === undefined) return <PlaceholderRow key={`#${index}`} index={index} />
      const { id } = plant
      return (
        <TableRow
          key={String(id)}
          {...{ plant, index, words, actions }}
          isActive={index === active}
          isOpen={id === openId}
          isSelected={selection?.ranges.has(id)}
          mark={marks.get(id)?.mark}
          draftNote={noteOf(drafts, id)}
        />
      )
    })
}

/** What is to be said about a plant whose change is not saved. */
function noteOf(drafts: Drafts, id: bigint): string | undefined {
  const draft = drafts.of(id)
  if (draft === undefined || draft === drafts.open) return undefined
  return draft.state === 'sending' ? 'saving…' : 'not saved'
}
