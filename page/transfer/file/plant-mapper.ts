import type { NewPlant, StoredPlant } from '../../../client/client.ts'
import type { Mapping } from '../../../core/files/columns.ts'
import type { FileRecord } from '../../../core/files/file-record.ts'
import type { Format } from '../../../core/files/formats.ts'
import {
  mappedText,
  type RecordValues,
  recordMapper,
  toNewPlant,
  updatePlant,
} from '../../../core/files/record-mapper.ts'
import { members } from '../../model/current-members.ts'
import type { PlantFields } from '../../text/fields-text.tsx'

/** What a record says about the plant with an id. */
export interface Row {
  readonly id: bigint
  readonly values: RecordValues
}

/** Reads a record, or says why that is impossible, without a final period. */
export type ReadRow = (record: FileRecord) => Row | string

export function rowReader(mapping: Mapping, format: Format): ReadRow {
  const read = recordMapper(members, mapping, format)
  return (record) => {
    const values = read(record)
    if (typeof values === 'string') return `The ${values}`
    const { id } = values
    return typeof id === 'bigint' ? { id, values } : 'The id is missing'
  }
}

/**
 * The plant that a row describes or, given a stored one, what an update makes of it. Otherwise, says what is missing,
 * without a final period.
 */
export function plantOf({ values }: Row, stored?: StoredPlant): NewPlant | string {
  const plant = stored ? updatePlant(members, stored, values) : toNewPlant(members, values)
  return typeof plant === 'string' ? `The ${plant}` : plant
}

/** What a record has for each member, as text. */
export function fieldsOf(record: FileRecord, mapping: Mapping): PlantFields {
  return members.map(({ name }) => mappedText(record, mapping, name))
}
