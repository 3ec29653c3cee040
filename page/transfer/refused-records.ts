import { toJson } from '../../client/client.ts'
import { csvRecord } from '../../formats/record-formats.ts'
import { FIELDS, type FileRecord } from '../../formats/records.ts'
import { cut, ROW_LENGTH } from '../text/display-text.ts'
import type { Mapping } from './file/columns.ts'
import type { Refusal } from './import-run.ts'

/** How many are shown. The file has all of them. */
export const SHOWN_MAX = 50

/** Characters that are kept in memory before they become part of a Blob, which a browser can keep on disk. */
const PART_LENGTH = 2 ** 20

/** The id, the name and the tag of a plant as text. Undefined if it has none. */
export type PlantFields = readonly (string | undefined)[]

export interface ShownRefusal {
  readonly number: number
  readonly reason: string
  readonly fields: PlantFields
  /** Those of the stored plant that has the id. */
  readonly storedFields: PlantFields | undefined
}

/** The records that an import refuses. The columns `id`, `name` and `tag` of the file can be corrected and imported. */
export class RefusedRecords {
  readonly #mapping: Mapping
  #count = 0
  /** The first ones. */
  readonly shown: ShownRefusal[] = []
  readonly #parts: Blob[] = []
  #text: string

  /** @param counted what the number of a record counts */
  constructor(mapping: Mapping, counted: 'line' | 'item') {
    this.#mapping = mapping
    this.#text = `${counted},reason,id,name,tag,stored name,stored tag\n`
  }

  get count(): number {
    return this.#count
  }

  add({ record, reason, other }: Refusal): void {
    this.#count += 1
    const { number } = record
    const given = fieldsOf(record, this.#mapping)
    const storedFields = other && [String(other.id), other.name, other.tag]
    this.#text += csvRecord([String(number), reason, ...given, other?.name, other?.tag])
    if (this.#text.length >= PART_LENGTH) this.#endPart()
    if (this.shown.length < SHOWN_MAX) {
      this.shown.push({
        number,
        reason,
        fields: given.map(shorten),
        storedFields: storedFields?.map(shorten),
      })
    }
  }

  /** A CSV file. */
  toFile(): Blob {
    this.#endPart()
    return new Blob(this.#parts, { type: 'text/csv' })
  }

  #endPart(): void {
    this.#parts.push(new Blob([this.#text]))
    this.#text = ''
  }
}

function shorten(text: string | undefined): string | undefined {
  return text && cut(text, ROW_LENGTH)
}

/** The id, the name and the tag of a record. */
export function fieldsOf({ values }: FileRecord, mapping: Mapping): PlantFields {
  return FIELDS.map((field) => toText(values[mapping[field] ?? '']))
}

/** A value from a file, which need not be text. */
function toText(value: unknown): string | undefined {
  return typeof value === 'string' || value === undefined ? value : toJson(value)
}
