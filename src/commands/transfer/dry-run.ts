import { hash } from 'node:crypto'
import { known } from '../../../core/known.ts'
import type { Member } from '../../../core/members/members.ts'
import { type PageReader, pageReader } from '../../../service/page-reader.ts'
import { plantJson, readFields } from '../../../service/store/plant-content.ts'
import type { ChangeResult, NewPlant, StoredPlant } from '../../../service/store/plant-store.ts'
import { decide } from '../../stores/shared/plant-change.ts'
import type { PlantReader } from '../../stores/shared/store.ts'
import { type ImportChange, type ImportStore, REMEMBERED_IDS } from '../../transfer/import.ts'
import { quote } from '../../transfer/unknown-fields.ts'

/** The number of ids in a read, which limits its cost if it finds few plants. */
const READ_IDS = 1000

/** A plant of the database. */
interface Found {
  readonly digest: string
  /** Quoted. Empty if it is not needed. */
  readonly quoted: string
}

/**
 * Decides what the changes of an import would do, and stores nothing. It remembers the plants that would change as
 * digests, so its memory does not depend on their size. Beyond REMEMBERED_IDS of them, a repeated id is compared with
 * the database alone.
 *
 * A change of an import sets or clears every own field of the contract. A stored plant keeps all others, which therefore
 * never make a difference, and are not read.
 */
export class DryRun implements ImportStore {
  readonly #reader: Pick<PlantReader, 'getAll' | 'close'>
  readonly #readPage: PageReader
  /** The digests of the plants that would have changed so far, by id. */
  readonly #changed = new Map<bigint, string>()
  readonly #remembered: number
  #hasForgotten = false
  #firstDifferent: string | undefined

  /**
   * @param members those of a plant
   * @param remembered how many plants that would change are remembered
   */
  constructor(
    reader: Pick<PlantReader, 'getAll' | 'close'>,
    members: readonly Member[],
    remembered = REMEMBERED_IDS,
  ) {
    this.#reader = reader
    this.#readPage = pageReader(members)
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
    const digest = changed ?? found?.digest
    // In place of the contents, which are equal if and only if their digests are.
    const before = digest === undefined ? undefined : { id, name: digest }
    const { result, after } = decide(before, { type, id, name: digestOf(change) })
    if (result === 'plant-exists' || result === 'changed') {
      this.#firstDifferent ??=
        changed === undefined ? known(found).quoted : 'the plant of an earlier record'
    }
    if (after !== before) this.#remember(known(after))
    return result
  }

  #remember({ id, name }: StoredPlant): void {
    if (this.#changed.has(id) || this.#changed.size < this.#remembered) this.#changed.set(id, name)
    else this.#hasForgotten = true
  }

  async #findAll(given: readonly bigint[]): Promise<Map<bigint, Found>> {
    const ids = [...new Set(given)].sort((one, other) => (one < other ? -1 : 1))
    const found = new Map<bigint, Found>()
    for (let start = 0; start < ids.length; start += READ_IDS) {
      for await (const plant of this.#readPlants(ids.slice(start, start + READ_IDS))) {
        const quoted = this.#firstDifferent === undefined ? quotePlant(plant) : ''
        found.set(plant.id, { digest: digestOf(plant), quoted })
      }
    }
    return found
  }

  /** @param ids in ascending order, each once */
  async *#readPlants(ids: readonly bigint[]): AsyncGenerator<StoredPlant, void> {
    let rest = ids
    do {
      const page = await this.#reader.getAll(rest)
      yield* this.#readPage(page)
      const { next } = page
      rest = next === undefined ? [] : rest.filter((id) => id > next)
    } while (rest.length > 0)
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
