import type { Member } from '../../../core/members/members.ts'
import { type PageReader, pageReader } from '../../../service/page-reader.ts'
import { plantJson, readFields } from '../../../service/store/plant-content.ts'
import {
  type ChangeResult,
  LIST_TEXT_MAX,
  type NewPlant,
  type PlantPage,
  type PlantStore,
  type StoredPlant,
} from '../../../service/store/plant-store.ts'
import { decide } from '../../stores/shared/plant-change.ts'
import type { ImportChange, ImportStore } from '../../transfer/import-changes.ts'
import { type PlantFinder, plantFinder } from '../../transfer/plant-finder.ts'
import { REMEMBERED_IDS } from '../../transfer/record-ids.ts'
import { quote } from '../../transfer/unknown-fields.ts'

/** How much JSON of plants is remembered, in UTF-16 units. */
const REMEMBERED_TEXT = 2 ** 26

/**
 * Decides what the changes of an import would do, and stores nothing. It remembers the plants that would change, up to
 * a limit. After that, a record that repeats an id is compared with the database alone.
 *
 * A stored plant keeps own fields that the contract does not have, which therefore never make a difference, and are not
 * read.
 */
export class DryRun implements ImportStore {
  readonly #findStored: PlantFinder
  readonly #readPage: PageReader
  readonly #remembered: number
  /** The JSON of the plants that would have changed so far, by id. */
  readonly #changed = new Map<bigint, string>()
  #changedText = 0
  #hasForgotten = false
  /** The plants that the next changes are about. */
  #found = new Map<bigint, StoredPlant>()

  /**
   * @param members those of a plant
   * @param remembered how many plants that would change are remembered
   */
  constructor(
    reader: Pick<PlantStore, 'getAll'>,
    members: readonly Member[],
    remembered = REMEMBERED_IDS,
  ) {
    this.#findStored = plantFinder(reader, members)
    this.#readPage = pageReader(members)
    this.#remembered = remembered
  }

  /** Whether more plants would change than are remembered. */
  get hasForgotten(): boolean {
    return this.#hasForgotten
  }

  readonly find: PlantFinder = async (ids) => {
    const changed = [...new Set(ids)].flatMap((id) => this.#changed.get(id) ?? [])
    const text = changed.reduce((sum, { length }) => sum + length, 0)
    if (text > LIST_TEXT_MAX && changed.length > 1) return 'too-large'
    const stored = await this.#findStored(ids.filter((id) => !this.#changed.has(id)))
    if (stored === 'too-large') return stored
    this.#found = new Map(stored)
    for (const plant of this.#readPage({ json: `[${changed.join()}]` as PlantPage['json'] })) {
      this.#found.set(plant.id, plant)
    }
    return this.#found
  }

  async apply(changes: readonly ImportChange[]): Promise<ChangeResult[]> {
    return changes.map((change) => {
      const { result, after } = decide(this.#found.get(change.id), change)
      if (after !== undefined) {
        this.#found.set(change.id, after)
        this.#remember(after)
      }
      return result
    })
  }

  #remember(plant: StoredPlant): void {
    // A part of a string would keep all of the file's text in memory. A clone does not.
    const json = structuredClone(plantJson(plant))
    const earlier = this.#changed.get(plant.id)
    const text = this.#changedText + json.length - (earlier?.length ?? 0)
    const isFull = earlier === undefined && this.#changed.size >= this.#remembered
    if (isFull || text > REMEMBERED_TEXT) {
      this.#hasForgotten = true
      return
    }
    this.#changedText = text
    this.#changed.set(plant.id, json)
  }
}

/** How much of a string is shown, in UTF-16 units. */
const SHOWN_LENGTH_MAX = 100

/** A plant in JSON, whose long strings are cut off. */
export function quotePlant({ id, name, tag, fields = '' }: NewPlant): string {
  const members = [
    `"id":${id}`,
    `"name":${quote(name, SHOWN_LENGTH_MAX)}`,
    ...(tag === undefined ? [] : [`"tag":${quote(tag, SHOWN_LENGTH_MAX)}`]),
    ...readFields(fields).map(([field, json]) => `${quote(field)}:${quoteValue(json)}`),
  ]
  return `{${members.join()}}`
}

function quoteValue(json: string): string {
  return json.startsWith('"') ? quote(JSON.parse(json), SHOWN_LENGTH_MAX) : json
}
