import { isOwn, members } from '../../model/members.ts'
import { memberLabel, ROW_LENGTH } from '../../text/display-text.ts'
import { PlantText, Tag } from '../../text/plant-text.tsx'
import type { PlantFields } from './refused-records.ts'

/** A member that a record can lack. */
function Part({ text, what }: { readonly text: string | undefined; readonly what: string }) {
  if (text === undefined) return <span class="blank">no {what}</span>
  return <PlantText text={text} blank={`empty ${what}`} length={ROW_LENGTH} />
}

/** The members of a plant, in their order, without the own ones that it does not have. */
function recordParts(fields: PlantFields) {
  return members.flatMap((member, index) => {
    const text = fields[index]
    if (!isOwn(member)) return [<RecordPart key={member.name} name={member.name} text={text} />]
    if (text === undefined) return []
    const label = memberLabel(member)
    return [
      <span key={member.name}>
        {label}: <Part text={text} what={label} />
      </span>,
    ]
  })
}

/** A member of a plant, without its name. */
export function RecordPart({
  name,
  text,
}: {
  readonly name: string
  readonly text: string | undefined
}) {
  return name === 'tag' ? <Tag tag={text} length={ROW_LENGTH} /> : <Part text={text} what={name} />
}

/** A plant in one line. */
export function RecordText({
  label,
  fields,
}: {
  readonly label: string
  readonly fields: PlantFields
}) {
  return (
    <p>
      <span class="hint">{label}:</span>
      {recordParts(fields).flatMap((part) => [' ', part])}
    </p>
  )
}
