import { hash } from 'node:crypto'
import { givenValue, type RecordValues } from '../../core/files/record-mapper.ts'
import { INT64_MAX } from '../../core/json/int64.ts'
import { type Member, type MemberValue, writeJson } from '../../core/members/members.ts'
import { type PageReader, pageReader } from '../../service/page-reader.ts'
import { fieldValue } from '../../service/store/field-match.ts'
import type { PlantStore, StoredPlant } from '../../service/store/plant-store.ts'
import type { PlantReader } from '../stores/shared/store.ts'
import { FileError } from '../system/user-errors.ts'
import { quote } from './unknown-fields.ts'

/** How many ids or values are remembered to recognize repeated ones: as many as a spreadsheet has rows. */
export const REMEMBERED_IDS = 2 ** 20

/** The plant that a record is about. */
export interface RecordTarget {
  readonly id: bigint
  /** Whether the import has chosen the id for a new plant, and can choose another one. */
  readonly isNew: boolean
}

/** Determines the plants that the records of a file are about. */
export interface RecordIds {
  /**
   * Says why a record is refused if it has no plant.
   *
   * @param number that of the record
   * @throws FileError if there is no free id
   */
  find(values: RecordValues, number: number): RecordTarget | string
  /** The ids of new plants. Undefined if records always have an id. */
  readonly free?: FreeIds
  /** Whether a new plant that is already stored under the id chosen for it is that of the record. */
  readonly recognizesPlants?: boolean
}

/** The ids in the records. */
export const givenIds: RecordIds = {
  find: ({ id = null }) => (id === null ? 'id is missing' : { id: id as bigint, isNew: false }),
}

/** A free id for each record. */
export function newIds(free: FreeIds): RecordIds {
  return { find: () => ({ id: free.take(), isNew: true }), free }
}

/** Ids that follow those of all plants. Others can use them first. */
export class FreeIds {
  readonly #store: Pick<PlantReader, 'list'>
  readonly #readPage: PageReader
  #next = 1n

  private constructor(store: Pick<PlantReader, 'list'>, members: readonly Member[]) {
    this.#store = store
    this.#readPage = pageReader(members)
  }

  static async open(
    store: Pick<PlantReader, 'list'>,
    members: readonly Member[],
  ): Promise<FreeIds> {
    const free = new FreeIds(store, members)
    await free.skipTaken()
    return free
  }

  /** @throws FileError if no id follows */
  take(): bigint {
    if (this.#next > INT64_MAX) {
      throw new FileError(`cannot choose ids for new plants: ${INT64_MAX} is the last one`)
    }
    return this.#next++
  }

  /** Continues after the plants that are stored. Ids that were taken and are not stored yet can be taken again. */
  async skipTaken(): Promise<void> {
    const page = await this.#store.list({ isDescending: true, limit: 1 })
    const last = this.#readPage(page)[0]?.id ?? 0n
    this.#next = last > 0n ? last + 1n : 1n
  }
}

interface MatchOptions {
  /** By which records and plants are matched: the name, or an own field. */
  readonly member: Member
  readonly store: Pick<PlantStore, 'exportPlants'>
  /** The ids of plants that are not stored yet. */
  readonly free: FreeIds
  /** Says where a record is, given its number. */
  readonly locate: (number: number) => string
  readonly signal: AbortSignal
}

/**
 * The ids of the stored plants that have the same value of a member as the records. Reads all plants once, and remembers
 * hashes, so its memory does not depend on the length of the values.
 *
 * @throws FileError if more than REMEMBERED_IDS plants have a value, and the reason of the signal
 */
export async function matchIds(options: MatchOptions): Promise<RecordIds> {
  const { member, free, locate } = options
  const { name } = member
  const { ids, ambiguous } = await readValues(options)
  /** The number of the record that has a value. */
  const records = new Map<string, number>()
  return {
    find(values, number) {
      const value = givenValue(values, name)
      if (value === null) return `${name} is missing`
      const key = toKey(value)
      const shown = () => `${name} ${typeof value === 'string' ? quote(value) : value}`
      const first = records.get(key)
      if (first !== undefined) return `repeats ${shown()} of ${locate(first)}`
      if (records.size >= REMEMBERED_IDS) return `follows ${describeMax()} values of ${name}`
      records.set(key, number)
      const id = ids.get(key)
      if (id === undefined) return { id: free.take(), isNew: true }
      const other = ambiguous.get(key)
      return other === undefined
        ? { id, isNew: false }
        : `several plants, such as ${id} and ${other}, have ${shown()}`
    },
    free,
    recognizesPlants: true,
  }
}

/** The id of the first plant with each value, and that of another one, by the keys of the values. */
async function readValues({ member, store, signal }: MatchOptions) {
  const ids = new Map<string, bigint>()
  const ambiguous = new Map<string, bigint>()
  for await (const plants of store.exportPlants()) {
    signal.throwIfAborted()
    for (const plant of plants) {
      const value = memberValue(member, plant)
      if (value === undefined) continue
      const key = toKey(value)
      if (ids.has(key)) ambiguous.set(key, plant.id)
      else ids.set(key, plant.id)
    }
    if (ids.size > REMEMBERED_IDS) {
      throw new FileError(
        `cannot match by ${member.name}: the plants have more than ${describeMax()} values of it; import by id`,
      )
    }
  }
  return { ids, ambiguous }
}

function memberValue(member: Member, { name, fields }: StoredPlant): MemberValue | undefined {
  return member.schema === undefined ? name : fieldValue(member, fields)
}

function toKey(value: MemberValue): string {
  return hash('sha256', writeJson(value), 'base64url')
}

function describeMax(): string {
  return REMEMBERED_IDS.toLocaleString('en')
}
