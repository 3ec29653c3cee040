import type { StoredPlant } from '../../client/client.ts'
import type { Counted } from '../../core/files/formats.ts'
import { csvRecord } from '../../core/files/record-formats.ts'
import { contentMembers, members, toFields } from '../model/current-members.ts'
import { cut, ROW_LENGTH } from '../text/display-text.ts'
import type { PlantFields } from '../text/fields-text.tsx'

/** How many are shown. The file has all of them. */
const SHOWN_MAX = 50

/** Characters that are kept in memory before they become part of a Blob, which a browser can keep on disk. */
const PART_LENGTH = 2 ** 20

/** A plant that a run does not store. */
export interface RefusedPlant {
  /** Where it is in a file. */
  readonly number?: number
  /** Without a final period. */
  readonly reason: string
  /** What was to be stored or, if it was to be deleted, what was there before. */
  readonly fields: PlantFields
  readonly isDeletion?: boolean
  /** What is stored instead. */
  readonly stored?: StoredPlant | undefined
}

export interface ShownRefusal {
  readonly number: number | undefined
  readonly reason: string
  readonly fields: PlantFields
  readonly isDeletion: boolean
  readonly storedFields: PlantFields | undefined
}

/** The plants that a run does not store. The columns of the file that are named after members can be corrected and imported. */
export class RefusedPlants {
  readonly #isNumbered: boolean
  readonly #hasColumn: readonly boolean[]
  #count = 0
  /** The first ones. */
  readonly shown: ShownRefusal[] = []
  readonly #parts: Blob[] = []
  #text: string

  /**
   * @param counted what the number of a plant counts
   * @param hasColumn whether the file has a column for a member, because an empty cell can remove its value
   */
  constructor(counted?: Counted, hasColumn = (_name: string) => true) {
    this.#isNumbered = counted !== undefined
    this.#hasColumn = members.map(({ name }) => hasColumn(name))
    const names = members.map(({ name }) => name)
    const stored = contentMembers.map(({ name }) => `stored ${name}`)
    const others = counted === undefined ? ['reason'] : [counted, 'reason']
    const own = this.#columnsOf(names)
    this.#text = csvRecord([...others.map((name) => unlike(names, name)), ...own, ...stored])
  }

  get count(): number {
    return this.#count
  }

  add({ number, reason, fields, isDeletion = false, stored }: RefusedPlant): void {
    this.#count += 1
    const storedFields = stored && toFields(stored)
    const [, ...storedContent] = storedFields ?? members.map(() => undefined)
    const place = this.#isNumbered ? [String(number)] : []
    this.#text += csvRecord([...place, reason, ...this.#columnsOf(fields), ...storedContent])
    if (this.#text.length >= PART_LENGTH) this.#endPart()
    if (this.shown.length < SHOWN_MAX) {
      const storedText = storedFields?.map(shorten)
      const text = { fields: fields.map(shorten), storedFields: storedText }
      this.shown.push({ number, reason, isDeletion, ...text })
    }
  }

  /** A CSV file. */
  toFile(): Blob {
    this.#endPart()
    return new Blob(this.#parts, { type: 'text/csv' })
  }

  #columnsOf<Each>(values: readonly Each[]): readonly Each[] {
    return values.filter((_, index) => this.#hasColumn[index])
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
