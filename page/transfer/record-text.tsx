import { members } from '../../contract/members.gen.ts'
import { ROW_LENGTH } from '../text/display-text.ts'
import { PlantText, Tag } from '../text/plant-text.tsx'
import type { PlantFields } from './refused-records.ts'

/** A member that a record can lack. */
function Part({ text, what }: { readonly text: string | undefined; readonly what: string }) {
  if (text === undefined) return <span class="blank">no {what}</span>
  return <PlantText text={text} blank={`empty ${what}`} length={ROW_LENGTH} />
}

/** The members of a plant, in their order. */
export function recordParts(fields: PlantFields) {
  return members.map(({ name }, index) =>
    name === 'tag' ? (
      <Tag key={name} tag={fields[index]} length={ROW_LENGTH} />
    ) : (
      <Part key={name} text={fields[index]} what={name} />
    ),
  )
}
