import { known } from '../../core/known.ts'
import type { Member } from '../../core/members/members.ts'
import { memberLabel } from '../text/display-text.ts'

export function MemberChoice<Choice extends Member>({
  members,
  member,
  onMember,
}: {
  readonly members: readonly Choice[]
  readonly member: Choice
  readonly onMember: (member: Choice) => void
}) {
  return (
    <label class="field">
      Field
      <select
        value={member.name}
        onChange={({ currentTarget: { value } }) =>
          onMember(known(members.find(({ name }) => name === value)))
        }
      >
        {members.map((each) => (
          <option key={each.name} value={each.name}>
            {memberLabel(each)}
          </option>
        ))}
      </select>
    </label>
  )
}
