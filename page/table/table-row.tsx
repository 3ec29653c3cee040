import type { StoredPlant } from '../../client/client.ts'
import { limits } from '../../core/generated/limits.gen.ts'
import { type MemberValue, ownValue } from '../../core/members/members.ts'
import type { Mark } from '../list/plant-view.ts'
import { memo } from '../model/memo.tsx'
import { labelOf, ROW_LENGTH } from '../text/display-text.ts'
import { Icon } from '../text/icon.tsx'
import { OwnValue } from '../text/member-value.tsx'
import { PlantText, Tag } from '../text/plant-text.tsx'
import { columnMembers, fieldArea, isNumeric } from './field-columns.ts'

/** What a phone shows of own members. */
const PLACES = ['first', 'second']

/** The service cannot select longer tags. */
const TAG_LENGTH_MAX = limits.listPlants.tag.maxLength

const MARK_TEXT = {
  new: 'new',
  changed: 'changed',
  deleted: 'deleted',
  unmatched: 'no longer matches',
}

/** The check box if plants can be selected, the name, the tag, own members, the id and actions. */
export function columnCount(canSelect: boolean): number {
  return columnMembers().length + (canSelect ? 5 : 4)
}

/** What a person can do with the plant of a row. */
export interface RowActions {
  readonly canWrite: boolean
  onOpen(plant: StoredPlant): void
  onDelete(plant: StoredPlant): void
  /** Selects the plants with a tag. */
  onTag(tag: string): void
}

interface RowProps {
  readonly plant: StoredPlant
  readonly index: number
  /** Whether the Tab key leads here. */
  readonly isActive: boolean
  /** Whether the plant is being edited or viewed. */
  readonly isOpen: boolean
  /** Undefined if nobody can select plants. */
  readonly isSelected: boolean | undefined
  readonly mark: Mark | undefined
  /** What is to be said about a change that is not saved. */
  readonly draftNote: string | undefined
  /** Those that were searched for. */
  readonly words: readonly string[]
  readonly actions: RowActions
}

export const TableRow = memo(
  ({ plant, index, isActive, isOpen, isSelected, mark, draftNote, words, actions }: RowProps) => {
    const { id, name, tag } = plant
    const tabIndex = isActive ? 0 : -1
    const label = labelOf(plant)
    const note = draftNote ?? (mark && MARK_TEXT[mark])
    const isDeleted = mark === 'deleted'
    const classes = [
      'plant-row',
      mark && `marked ${mark}`,
      draftNote !== undefined && 'unsaved',
      isOpen && 'open',
    ]
    return (
      <div
        role="row"
        class={classes.filter(Boolean).join(' ')}
        aria-rowindex={index + 2}
        aria-selected={isDeleted ? undefined : isSelected}
        data-id={String(id)}
        tabIndex={tabIndex}
        style={{ '--row': index }}
      >
        {isSelected !== undefined && <SelectCell {...{ label, isSelected, isDeleted, tabIndex }} />}
        <div role="gridcell" class="name-cell">
          <span class="name cut">
            <PlantText text={name} blank="No name" length={ROW_LENGTH} words={words} />
          </span>
          {note && <span class="note">{note}</span>}
        </div>
        <div role="gridcell" class="tag-cell cut">
          <TagButton {...{ tag, tabIndex }} canSelect={!isDeleted} onTag={actions.onTag} />
        </div>
        <FieldCells plant={plant} tabIndex={tabIndex} />
        <div role="gridcell" class="id-cell">
          {String(id)}
        </div>
        <div role="gridcell" class="action-cell">
          {!isDeleted && <ActionButtons {...{ plant, label, tabIndex, actions }} />}
        </div>
      </div>
    )
  },
)

/** A check box. The table handles its clicks, because they can select more than one row. */
function SelectCell({
  label,
  isSelected,
  isDeleted,
  tabIndex,
}: {
  readonly label: string
  readonly isSelected: boolean
  readonly isDeleted: boolean
  readonly tabIndex: 0 | -1
}) {
  return (
    <div role="gridcell" class="select-cell">
      {!isDeleted && (
        <input
          type="checkbox"
          tabIndex={tabIndex}
          aria-label={`Select ${label}`}
          checked={isSelected}
        />
      )}
    </div>
  )
}

function ActionButtons({
  plant,
  label,
  tabIndex,
  actions: { canWrite, onOpen, onDelete },
}: {
  readonly plant: StoredPlant
  readonly label: string
  readonly tabIndex: 0 | -1
  readonly actions: RowActions
}) {
  return (
    <>
      <button
        type="button"
        class="quiet"
        tabIndex={tabIndex}
        aria-label={`${canWrite ? 'Edit' : 'View'} ${label}`}
        title={canWrite ? 'Edit' : 'View'}
        onClick={() => onOpen(plant)}
      >
        <Icon name={canWrite ? 'edit' : 'view'} />
      </button>
      {canWrite && (
        <button
          type="button"
          class="quiet danger"
          tabIndex={tabIndex}
          aria-label={`Delete ${label}`}
          title="Delete"
          onClick={() => onDelete(plant)}
        >
          <Icon name="delete" />
        </button>
      )}
    </>
  )
}

/** A tag that selects the plants with it, if the service can do that. */
function TagButton({
  tag,
  tabIndex,
  canSelect,
  onTag,
}: {
  readonly tag: string | undefined
  readonly tabIndex: 0 | -1
  readonly canSelect: boolean
  readonly onTag: RowActions['onTag']
}) {
  const content = <Tag tag={tag} length={ROW_LENGTH} />
  if (tag === undefined || !canSelect || tag.length > TAG_LENGTH_MAX) return content
  return (
    <button
      type="button"
      class="bare"
      tabIndex={tabIndex}
      title="Show the plants with this tag"
      onClick={() => onTag(tag)}
    >
      {content}
    </button>
  )
}

function FieldCells({
  plant,
  tabIndex,
}: {
  readonly plant: StoredPlant
  readonly tabIndex: 0 | -1
}) {
  return columnMembers().map((member, index) => {
    const value = ownValue(plant, member.name) as MemberValue | undefined
    return (
      <div
        key={member.name}
        role="gridcell"
        class={`field-cell cut ${PLACES[index] ?? ''} ${isNumeric(member) ? 'numeric' : ''}`}
        style={fieldArea(index)}
      >
        {value !== undefined && (
          <OwnValue member={member} value={value} length={ROW_LENGTH} tabIndex={tabIndex} />
        )}
      </div>
    )
  })
}

/** A row whose plant has not been loaded yet. */
export function PlaceholderRow({ index }: { readonly index: number }) {
  return (
    <div
      role="row"
      class="plant-row placeholder"
      aria-rowindex={index + 2}
      style={{ '--row': index }}
    >
      <div role="gridcell" class="name-cell">
        <span class="blank">Loading…</span>
      </div>
    </div>
  )
}
