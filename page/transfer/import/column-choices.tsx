import { type Column, columnsOf, type Mapping } from '../../../core/files/columns.ts'
import type { Member } from '../../../core/members/members.ts'
import { isOwn, members } from '../../model/current-members.ts'
import { memberLabel } from '../../text/display-text.ts'
import { matchKey } from '../file/matching.ts'
import { NUMBERED } from '../file/numbering.ts'

/** How many columns without a meaning are named. */
const UNUSED_MAX = 5

/** Maps the columns of a file to the members of a plant. */
export function ColumnChoices({
  columns,
  mapping,
  setMapping,
  canRead,
}: {
  readonly columns: readonly Column[]
  readonly mapping: Mapping
  readonly setMapping: (mapping: Mapping) => void
  readonly canRead: boolean
}) {
  return (
    <fieldset class="choices">
      <legend>Columns</legend>
      {members.map((member) => (
        <MemberColumns
          key={member.name}
          {...{ member, mapping, columns, canRead }}
          onChoose={(keys) => setMapping({ ...mapping, [member.name]: keys })}
        />
      ))}
    </fieldset>
  )
}

type Choice = Pick<Column, 'key' | 'label'>

/** What rows without ids can have: new ids, or those of the plants with the same value of a member. */
function idChoices(mapping: Mapping, canRead: boolean): readonly Choice[] {
  const matchable = members.filter(
    (member) =>
      canRead &&
      (isOwn(member) || member.name === 'name') &&
      columnsOf(mapping, member.name).length > 0,
  )
  return [
    { key: NUMBERED, label: 'No ids: number them' },
    ...matchable.map((member) => ({
      key: matchKey(member.name),
      label: `Match rows by ${memberLabel(member)}`,
    })),
  ]
}

/** Chooses the columns of a member. Only the name can have several. */
function MemberColumns({
  member,
  mapping,
  columns,
  canRead,
  onChoose,
}: {
  readonly member: Member
  readonly mapping: Mapping
  readonly columns: readonly Column[]
  readonly canRead: boolean
  readonly onChoose: (keys: readonly string[]) => void
}) {
  const { name } = member
  const [first, ...others] = columnsOf(mapping, name)
  const label = memberLabel(member)
  // An update can keep the names.
  const isRequired = member.isRequired && (name === 'id' || !canRead)
  const none = isOwn(member) ? 'No column' : `No ${name}s`
  const unused = new Set(unusedColumns(columns, mapping))
  const canJoin = name === 'name' && first !== undefined
  return (
    <>
      <ColumnChoice
        {...{ label, isRequired }}
        none={isRequired ? 'Choose a column' : none}
        chosen={first}
        columns={name === 'id' ? [...idChoices(mapping, canRead), ...columns] : columns}
        onChoose={(key) => onChoose(key ? [key, ...others.filter((other) => other !== key)] : [])}
      />
      {canJoin &&
        [...others, ''].map((chosen, index) => {
          const offered = columns.filter((column) => column.key === chosen || unused.has(column))
          if (offered.length === 0) return null
          const before = [first, ...others.slice(0, index)]
          return (
            <ColumnChoice
              key={index}
              label={`${label}, followed by`}
              none="Nothing"
              chosen={chosen}
              columns={offered}
              onChoose={(key) =>
                onChoose(key ? [...before, key, ...others.slice(index + 1)] : before)
              }
            />
          )
        })}
    </>
  )
}

function ColumnChoice({
  label,
  none,
  chosen,
  columns,
  isRequired = false,
  onChoose,
}: {
  readonly label: string
  /** What to call the choice of no column. */
  readonly none: string
  readonly chosen: string | undefined
  readonly columns: readonly Choice[]
  readonly isRequired?: boolean
  /** Called with an empty key for no column. */
  readonly onChoose: (key: string) => void
}) {
  return (
    <label class="field">
      {label}
      <select
        required={isRequired}
        value={columns.some(({ key }) => key === chosen) ? chosen : ''}
        onChange={({ currentTarget: { value } }) => onChoose(value)}
      >
        <option value="">{none}</option>
        {columns.map(({ key, label }) => (
          <option key={key} value={key}>
            {label}
          </option>
        ))}
      </select>
    </label>
  )
}

function unusedColumns(columns: readonly Column[], mapping: Mapping): readonly Column[] {
  const used = new Set(Object.values(mapping).flat())
  return columns.filter(({ key }) => !used.has(key))
}

/** Names the columns whose data is not imported, so that a misspelled one is noticed. */
export function UnusedColumns({
  columns,
  mapping,
}: {
  readonly columns: readonly Column[]
  readonly mapping: Mapping
}) {
  const unused = unusedColumns(columns, mapping)
  if (unused.length === 0) return null
  const names = unused.slice(0, UNUSED_MAX).map(({ label }) => label)
  const more = unused.length > UNUSED_MAX ? ` and ${unused.length - UNUSED_MAX} more` : ''
  return (
    <p class="hint">
      Not imported: {names.join(', ')}
      {more}
    </p>
  )
}
