import type { ComponentProps, RefObject } from 'preact'
import { type Filter, isEmpty } from '../list/filter.ts'
import { nextSort } from '../list/plant-order.ts'
import { members } from '../model/current-members.ts'
import { memo } from '../model/memo.tsx'
import type { IdRanges } from '../selection/id-ranges.ts'
import type { PlantSelection } from '../selection/plant-selection.ts'
import { memberLabel } from '../text/display-text.ts'
import { columnMembers, fieldArea, isNumeric } from './field-columns.ts'

interface SortProps {
  /** The parameter of the service. Undefined for ascending ids. */
  readonly sort: string | undefined
  /** Called with undefined for the order by id. */
  readonly onSort: (sort: string | undefined) => void
}

interface HeadProps extends SortProps {
  readonly rowRef: RefObject<HTMLDivElement | null>
  readonly filter: Filter
  /** Both undefined if nobody can select plants. */
  readonly selection: PlantSelection | undefined
  readonly ranges: IdRanges | undefined
}

export const TableHead = memo(({ rowRef, filter, selection, ranges, ...sorting }: HeadProps) => {
  return (
    <div role="rowgroup" class="table-head" ref={rowRef}>
      <div role="row" aria-rowindex={1}>
        {selection && ranges && <SelectAll {...{ filter, selection, ranges }} />}
        {['name', 'tag'].map((name) => (
          <ColumnHeader key={name} {...sorting} name={name} class={`${name}-cell`}>
            {memberLabel({ name })}
          </ColumnHeader>
        ))}
        {columnMembers().map((member, index) => (
          <ColumnHeader
            key={member.name}
            {...sorting}
            name={member.name}
            class={isNumeric(member) ? 'field-cell numeric' : 'field-cell'}
            style={fieldArea(index)}
            title={member.schema.description}
          >
            {memberLabel(member)}
          </ColumnHeader>
        ))}
        <ColumnHeader {...sorting} name="id" class="id-cell">
          {memberLabel({ name: 'id' })}
        </ColumnHeader>
        <div role="columnheader" class="action-cell">
          <span class="for-screen-readers">Actions</span>
        </div>
      </div>
    </div>
  )
})

/** The header of a column, which sorts by it if the service can. */
function ColumnHeader({
  name,
  sort = 'id',
  onSort,
  children,
  ...cell
}: SortProps & { readonly name: string } & ComponentProps<'div'>) {
  const ascending = sort === name ? 'ascending' : undefined
  const sorted = sort === `-${name}` ? 'descending' : ascending
  const isSortable = name === 'id' || members.some((each) => each.name === name && each.isSortable)
  return (
    <div {...cell} role="columnheader" aria-sort={sorted}>
      {isSortable ? (
        <button type="button" class="bare cut" onClick={() => onSort(nextSort(sort, name))}>
          {children}
        </button>
      ) : (
        children
      )}
    </div>
  )
}

function SelectAll({
  filter,
  selection,
  ranges,
}: {
  readonly filter: Filter
  readonly selection: PlantSelection
  readonly ranges: IdRanges
}) {
  const { isAll, isEmpty: isNone } = ranges
  return (
    <div role="columnheader" class="select-cell">
      <label>
        <input
          type="checkbox"
          aria-label={isEmpty(filter) ? 'Select all plants' : 'Select all plants that match'}
          checked={isAll}
          indeterminate={!isAll && !isNone}
          onChange={() => (isAll ? selection.clear() : selection.selectAll())}
        />
      </label>
    </div>
  )
}
