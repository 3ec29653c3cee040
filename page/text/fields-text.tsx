import { isOwn, members } from '../model/current-members.ts'
import { memberLabel, ROW_LENGTH } from './display-text.ts'
import { PlantText, Tag } from './plant-text.tsx'

/** The members of a plant as text, in their order. Undefined for a member that it does not have. */
export type PlantFields = readonly (string | undefined)[]

/** A member that a record of a file can lack. */
function Part({ text, what }: { readonly text: string | undefined; readonly what: string }) {
  if (text === undefined) return <span class="blank">No {what}</span>
  return <PlantText text={text} blank={`Empty ${what}`} length={ROW_LENGTH} />
}

/** The members of a plant, in their order, without the own ones that it does not have. */
function partsOf(fields: PlantFields) {
  return members.flatMap((member, index) => {
    const text = fields[index]
    if (!isOwn(member)) return [<FieldText key={member.name} name={member.name} text={text} />]
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
export function FieldText({
  name,
  text,
}: {
  readonly name: string
  readonly text: string | undefined
}) {
  return name === 'tag' ? <Tag tag={text} length={ROW_LENGTH} /> : <Part text={text} what={name} />
}

/** A plant in one line. */
export function FieldsText({
  label,
  fields,
}: {
  readonly label: string
  readonly fields: PlantFields
}) {
  return (
    <p>
      <span class="hint">{label}:</span>
      {partsOf(fields).flatMap((part) => [' ', part])}
    </p>
  )
}
