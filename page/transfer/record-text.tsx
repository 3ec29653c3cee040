import { ROW_LENGTH } from '../text/display-text.ts'
import { PlantText, Tag } from '../text/plant-text.tsx'
import type { PlantFields } from './refused-records.ts'

/** An id or a name, which a record can lack. */
function Part({ text, what }: { readonly text: string | undefined; readonly what: string }) {
  if (text === undefined) return <span class="blank">no {what}</span>
  return <PlantText text={text} blank={`empty ${what}`} length={ROW_LENGTH} />
}

/** The id, the name and the tag of a record, in this order. */
export function recordParts([id, name, tag]: PlantFields) {
  return [
    <Part key="id" text={id} what="id" />,
    <Part key="name" text={name} what="name" />,
    <Tag key="tag" tag={tag} length={ROW_LENGTH} />,
  ] as const
}
