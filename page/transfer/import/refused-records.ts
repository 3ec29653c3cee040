import { csvRecord } from '../../../formats/record-formats.ts'
import type { FileRecord } from '../../../formats/records.ts'
import { contentMembers, members, toFields } from '../../model/members.ts'
import { cut, ROW_LENGTH } from '../../text/display-text.ts'
import { type Mapping, mappedText } from '../file/columns.ts'
import type { Refusal } from './import-run.ts'

/** How many are shown. The file has all of them. */
export const SHOWN_MAX = 50

/** Characters that are kept in memory before they become part of a Blob, which a browser can keep on disk. */
const PART_LENGTH = 2 ** 20

/** The members of a plant as text, in their order. Undefined for a member that it does not have. */
export type PlantFields = readonly (string | undefined)[]

export interface ShownRefusal {
  readonly number: number
  readonly reason: string
  readonly fields: PlantFields
  /** Those of the stored plant that has the id. */
  readonly storedFields: PlantFields | undefined
}

/** The records that an import refuses. The columns of the file that are named after members can be corrected and imported. */
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
    const names = members.map(({ name }) => name)
    const stored = contentMembers.map(({ name }) => `stored ${name}`)
    const others = [counted, 'reason'].map((name) => unlike(names, name))
    this.#text = csvRecord([...others, ...names, ...stored])
  }

  get count(): number {
    return this.#count
  }

  add({ record, reason, other }: Refusal): void {
    this.#count += 1
    const { number } = record
    const given = fieldsOf(record, this.#mapping)
    const storedFields = other && toFields(other)
    const [, ...storedContent] = storedFields ?? members.map(() => undefined)
    this.#text += csvRecord([String(number), reason, ...given, ...storedContent])
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

/** A name for a column that an own field does not have. */
function unlike(names: readonly string[], name: string): string {
  return names.includes(name) ? unlike(names, `refused ${name}`) : name
}

function shorten(text: string | undefined): string | undefined {
  return text && cut(text, ROW_LENGTH)
}

/** What a record has for each member, as text. */
export function fieldsOf(record: FileRecord, mapping: Mapping): PlantFields {
  return members.map(({ name }) => mappedText(record, mapping, name))
}
