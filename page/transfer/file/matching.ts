import type { PlantStoreClient, PlantsQuery, StoredPlant } from '../../../client/client.ts'
import { columnsOf, type Mapping } from '../../../core/files/columns.ts'
import { FileProblem } from '../../../core/files/file-kind.ts'
import type { FileRecord } from '../../../core/files/file-record.ts'
import { counted } from '../../../core/files/formats.ts'
import { type ReadValues, recordMapper } from '../../../core/files/record-mapper.ts'
import { isComparable, toComparable } from '../../../core/members/comparable.ts'
import { type Member, type MemberValue, ownValue } from '../../../core/members/members.ts'
import { IDS_MAX, PAGE_SIZE, REQUESTS_MAX } from '../../changes/find-plants.ts'
import { suggestId } from '../../list/last-plants.ts'
import { isOwn, members } from '../../model/current-members.ts'
import { MEMORY_MAX, memoryOf, OVERHEAD } from '../../model/memory.ts'
import type { ImportFile } from './import-file.ts'
import { findFree, type IdentifiedFile, NUMBERED, withId } from './numbering.ts'

/** The length of a query that every proxy lets through. */
const QUERY_LENGTH_MAX = 6000

/** The key of the ids that are found by a member. */
export function matchKey(name: string): string {
  return `${NUMBERED} by ${name}`
}

/** The member by which rows are matched. Undefined if they have ids, or are numbered. */
export function matchedMember(mapping: Mapping): Member | undefined {
  const [key = ''] = columnsOf(mapping, 'id')
  return members.find(({ name }) => key === matchKey(name))
}

/** A value by which rows are matched. */
interface Key {
  readonly value: MemberValue
  /** The numbers of the first records that have it. */
  readonly numbers: number[]
  /** The ids of the first plants that have it. */
  readonly ids: bigint[]
}

export interface MatchOptions {
  readonly client: Pick<PlantStoreClient, 'plants' | 'listPlants'>
  readonly signal: AbortSignal
  /** Limits the memory for the values, in characters. */
  readonly memoryMax?: number
}

/**
 * Gives the records of a file the ids of the plants that have the same value of a member, and free ids to the others.
 * Those without a value, or with one that several records or plants have, are invalid.
 *
 * @throws FileProblem
 * @throws the reason of the signal, and what `PlantStoreClient.plants` throws
 */
export async function matchFile(
  file: ImportFile,
  mapping: Mapping,
  member: Member,
  options: MatchOptions,
): Promise<IdentifiedFile> {
  const match = new Match(file, mapping, member)
  await match.collect(options)
  await match.find(options)
  const chosen = new Set<bigint>()
  const { client, signal } = options
  let last = ((await suggestId(client)) ?? 1n) - 1n
  async function* more(signal: AbortSignal): AsyncGenerator<bigint, void> {
    for await (last of findFree(last + 1n, client, { signal })) {
      chosen.add(last)
      yield last
    }
  }
  await match.number(more(signal))
  return {
    ...file,
    chosen: { has: (id) => chosen.has(id), more },
    known: match.plants,
    async *records(onRead) {
      for await (const record of file.records(onRead)) yield match.identify(record)
    },
  }
}

class Match {
  readonly #file: ImportFile
  readonly #member: Member
  readonly #read: ReadValues
  /** Those that have a value, or as many as there is memory for. */
  readonly plants = new Map<bigint, StoredPlant>()
  #memory = 0
  /** By what is equal if the values are. */
  readonly #keys = new Map<number | bigint | string, Key>()

  constructor(file: ImportFile, mapping: Mapping, member: Member) {
    this.#file = file
    this.#member = member
    const { name } = member
    this.#read = recordMapper(members, { [name]: columnsOf(mapping, name) }, file.format)
  }

  /** Reads the values of the file. */
  async collect({ signal, memoryMax = MEMORY_MAX }: MatchOptions): Promise<void> {
    for await (const record of this.#file.records()) {
      signal.throwIfAborted()
      const values = this.#read(record)
      const value = typeof values === 'string' ? undefined : values[this.#member.name]
      if (!isComparable(this.#member, value)) continue
      const key = this.#keyOf(value)
      if (key !== undefined) {
        key.numbers[1] ??= record.number
        continue
      }
      const added = { value, numbers: [record.number], ids: [] }
      this.#keys.set(toComparable(this.#member, value), added)
      this.#memory += OVERHEAD + String(value).length
      if (this.#memory > memoryMax) throw new FileProblem('The file has too many rows. Split it.')
    }
  }

  /** Finds the stored plants that have the values. */
  async find({ client, signal, memoryMax = MEMORY_MAX }: MatchOptions): Promise<void> {
    const queries = this.#queries().values()
    const work = async () => {
      for (const query of queries) {
        for await (const plant of client.plants({ pageSize: PAGE_SIZE, ...query }, { signal })) {
          const ids = this.#keyOf(ownValue(plant, this.#member.name))?.ids
          if (ids === undefined || ids.length > 1) continue
          ids.push(plant.id)
          this.#memory += memoryOf(plant)
          if (this.#memory <= memoryMax) this.plants.set(plant.id, plant)
        }
      }
    }
    await Promise.all(Array.from({ length: REQUESTS_MAX }, work))
  }

  /** Asks for the values if an index finds them, or one request can. Otherwise, each would search all plants. */
  #queries(): readonly PlantsQuery[] {
    const { name, isSortable } = this.#member
    const lists: MemberValue[][] = []
    let length = QUERY_LENGTH_MAX
    // Neighbors in an index are found together.
    const sorted = [...this.#keys].sort(([one], [other]) => (one < other ? -1 : 1))
    for (const [, { value }] of sorted) {
      const added = encodeURIComponent(`&is.${name}=${value}`).length
      if (added > QUERY_LENGTH_MAX) return [{}]
      length += added
      if (length > QUERY_LENGTH_MAX || lists.at(-1)?.length === IDS_MAX) {
        lists.push([])
        length = added
      }
      lists.at(-1)?.push(value)
    }
    if (!isOwn(this.#member) || (lists.length > 1 && !isSortable)) return [{}]
    const sort = isSortable && { sort: name }
    return lists.map((is) => ({ filter: { [name]: { is } }, ...sort }) as PlantsQuery)
  }

  /** Gives ids to the values that no plant has. */
  async number(free: AsyncIterator<bigint>): Promise<void> {
    for (const { ids } of this.#keys.values()) {
      if (ids.length === 0) ids.push((await free.next()).value)
    }
  }

  identify(record: FileRecord): FileRecord {
    const values = this.#read(record)
    // It is reported when all its values are read.
    if (typeof values === 'string') return record
    const { name } = this.#member
    const key = this.#keyOf(values[name])
    if (key === undefined) return { ...record, problem: `${name} is missing` }
    const other = key.numbers.find((number) => number !== record.number)
    const { format } = this.#file
    if (other !== undefined) {
      return { ...record, problem: `${name} is also in ${counted[format]} ${other}` }
    }
    const [id = 0n, ...others] = key.ids
    if (others.length > 0) {
      return { ...record, problem: `${name} is that of the plants ${id} and ${others}` }
    }
    return withId(record, id, format, matchKey(name))
  }

  #keyOf(value: unknown): Key | undefined {
    const isKnown = isComparable(this.#member, value)
    return isKnown ? this.#keys.get(toComparable(this.#member, value)) : undefined
  }
}
