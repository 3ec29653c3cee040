import type { ComponentProps, RefObject } from 'preact'
import { type Filter, isEmpty } from '../list/filter.ts'
import type { PlantList } from '../list/plant-list.ts'
import { nextSort } from '../list/plant-order.ts'
import { members } from '../model/current-members.ts'
import type { PlantSelection } from '../selection/plant-selection.ts'
import { memberLabel } from '../text/display-text.ts'
import { columnMembers, fieldArea, isNumeric } from './field-columns.ts'

interface SortProps {
  readonly list: PlantList
  /** Called with undefined for the order by id. */
  readonly onSort: (sort: string | undefined) => void
}

export function TableHead({
  rowRef,
  selection,
  ...sorting
}: SortProps & {
  readonly rowRef: RefObject<HTMLDivElement | null>
  /** Undefined if nobody can select plants. */
  readonly selection: PlantSelection | undefined
}) {
  return (
    <div role="rowgroup" class="table-head" ref={rowRef}>
      <div role="row" aria-rowindex={1}>
        {selection && <SelectAll filter={sorting.list.filter} selection={selection} />}
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
}

/** The header of a column, which sorts by it if the service can. */
function ColumnHeader({
  name,
  list: {
    order: { sort = 'id' },
  },
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
}: {
  readonly filter: Filter
  readonly selection: PlantSelection
}) {
  const { isAll, isEmpty: isNone } = selection.ranges
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
