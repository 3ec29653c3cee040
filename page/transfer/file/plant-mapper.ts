import type { NewPlant } from '../../../client/client.ts'
import type { Mapping } from '../../../core/files/columns.ts'
import type { FileRecord } from '../../../core/files/file-record.ts'
import type { Format } from '../../../core/files/formats.ts'
import { mappedText, recordMapper, toNewPlant } from '../../../core/files/record-mapper.ts'
import { members } from '../../model/current-members.ts'
import type { PlantFields } from '../../text/fields-text.tsx'

/** Turns a record into a plant, or says why that is impossible, without a final period. */
export type ToPlant = (record: FileRecord) => NewPlant | string

export function plantMapper(mapping: Mapping, format: Format): ToPlant {
  const read = recordMapper(members, mapping, format)
  return (record) => {
    const values = read(record)
    const plant = typeof values === 'string' ? values : toNewPlant(members, values)
    return typeof plant === 'string' ? `The ${plant}` : plant
  }
}

/** What a record has for each member, as text. */
export function fieldsOf(record: FileRecord, mapping: Mapping): PlantFields {
  return members.map(({ name }) => mappedText(record, mapping, name))
}
