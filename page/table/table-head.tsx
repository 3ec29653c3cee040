import type { RefObject } from 'preact'
import { type Filter, isEmpty } from '../list/filter.ts'
import type { PlantSelection } from '../selection/plant-selection.ts'
import { memberLabel } from '../text/display-text.ts'
import { columnMembers, fieldArea, isNumeric } from './field-columns.ts'

export function TableHead({
  rowRef,
  filter,
  selection,
}: {
  readonly rowRef: RefObject<HTMLDivElement | null>
  readonly filter: Filter
  /** Undefined if nobody can select plants. */
  readonly selection: PlantSelection | undefined
}) {
  return (
    <div role="rowgroup" class="table-head" ref={rowRef}>
      <div role="row" aria-rowindex={1}>
        {selection && <SelectAll {...{ filter, selection }} />}
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
