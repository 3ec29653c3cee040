import { hash } from 'node:crypto'
import { known } from '../../../core/known.ts'
import type { Member } from '../../../core/members/members.ts'
import { type PageReader, pageReader } from '../../../service/page-reader.ts'
import {
  plantJson,
  readFields,
  textLength,
  toContent,
} from '../../../service/store/plant-content.ts'
import type { ChangeResult, NewPlant, StoredPlant } from '../../../service/store/plant-store.ts'
import { decide } from '../../stores/shared/plant-change.ts'
import type { PlantReader } from '../../stores/shared/store.ts'
import type { ImportChange, ImportStore } from '../../transfer/import-changes.ts'
import { findPlants, type PlantFinder, plantFinder } from '../../transfer/plant-finder.ts'
import { REMEMBERED_IDS } from '../../transfer/record-ids.ts'
import { quote } from '../../transfer/unknown-fields.ts'

/** How much text of plants that would change is remembered, in UTF-16 units: enough for REMEMBERED_IDS digests. */
const REMEMBERED_TEXT = 2 ** 26

/** A plant of the database. */
interface Found {
  readonly plant: StoredPlant
  /** Empty if it is not needed. */
  readonly quoted: string
}

export interface DryRunOptions {
  /** Whether the import updates plants: then, what it has changed is needed to apply another change. */
  readonly isUpdate?: boolean
  /** How many plants that would change are remembered. */
  readonly remembered?: number
}

/**
 * Decides what the changes of an import would do, and stores nothing. It remembers the plants that would change. Unless
 * they are updated, it remembers digests, so its memory does not depend on their size. Beyond REMEMBERED_IDS or
 * REMEMBERED_TEXT of them, a repeated id is compared with the database alone.
 *
 * A change of an import sets or clears every own field of the contract, or an update leaves it as it is. A stored plant
 * keeps all others, which therefore never make a difference, and are not read.
 */
export class DryRun implements ImportStore {
  readonly #reader: Pick<PlantReader, 'getAll' | 'close'>
  readonly #readPage: PageReader
  readonly #findStored: PlantFinder
  readonly #isUpdate: boolean
  readonly #remembered: number
  /** The plants that would have changed so far, by id. */
  readonly #changed = new Map<bigint, StoredPlant>()
  #changedText = 0
  #hasForgotten = false
  #firstDifferent: string | undefined

  /** @param members those of a plant */
  constructor(
    reader: Pick<PlantReader, 'getAll' | 'close'>,
    members: readonly Member[],
    { isUpdate = false, remembered = REMEMBERED_IDS }: DryRunOptions = {},
  ) {
    this.#reader = reader
    this.#readPage = pageReader(members)
    this.#findStored = plantFinder(reader, members)
    this.#isUpdate = isUpdate
    this.#remembered = remembered
  }

  /** What the first conflict or replacement differs from: a stored plant, quoted, or an earlier record, in words. */
  get firstDifferent(): string | undefined {
    return this.#firstDifferent
  }

  /** Whether more plants would change than are remembered. */
  get hasForgotten(): boolean {
    return this.#hasForgotten
  }

  /** The plants as updates would have left them. */
  readonly find: PlantFinder = async (ids) => {
    const stored = await this.#findStored(ids)
    if (stored === 'too-large') return stored
    const changed = ids.flatMap((id) => this.#changed.get(id) ?? [])
    return new Map([...stored, ...changed.map((plant) => [plant.id, plant] as const)])
  }

  async apply(changes: readonly ImportChange[]): Promise<ChangeResult[]> {
    const found = await this.#findAll(changes.map(({ id }) => id))
    return changes.map((change) => this.#decide(found.get(change.id), change))
  }

  close(): Promise<void> {
    return this.#reader.close()
  }

  #decide(found: Found | undefined, change: ImportChange): ChangeResult {
    const { id, type } = change
    const changed = this.#changed.get(id)
    const before = changed ?? found?.plant
    const comparable = type === 'update' ? change : { ...this.#toComparable(change), type }
    const { result, after } = decide(before, comparable)
    if (result === 'plant-exists' || result === 'changed') {
      this.#firstDifferent ??=
        changed === undefined ? known(found).quoted : 'the plant of an earlier record'
    }
    if (after !== before) this.#remember(known(after))
    return result
  }

  #remember({ id, ...content }: StoredPlant): void {
    // Parts of strings keep all of the file's text in memory. A clone does not.
    const plant = structuredClone({ id, ...toContent(content) })
    const earlier = this.#changed.get(id)
    const text = this.#changedText + textLength(plant) - textLength(earlier ?? {})
    const isNew = earlier === undefined
    if (text > REMEMBERED_TEXT || (isNew && this.#changed.size >= this.#remembered)) {
      this.#hasForgotten = true
      return
    }
    this.#changedText = text
    this.#changed.set(id, plant)
  }

  /** What is compared: a plant or, in place of its content, a digest, which is equal if and only if the content is. */
  #toComparable(plant: NewPlant): NewPlant {
    return this.#isUpdate ? plant : { id: plant.id, name: digestOf(plant) }
  }

  async #findAll(ids: readonly bigint[]): Promise<Map<bigint, Found>> {
    const found = new Map<bigint, Found>()
    for await (const plant of findPlants(this.#reader, this.#readPage, ids)) {
      const quoted = this.#firstDifferent === undefined ? quotePlant(plant) : ''
      found.set(plant.id, { plant: this.#toComparable(plant), quoted })
    }
    return found
  }
}

function digestOf(plant: NewPlant): string {
  return hash('sha256', plantJson(plant), 'base64url')
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
