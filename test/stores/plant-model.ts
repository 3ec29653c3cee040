import type { ChangeFeed } from '../../service/change-feed.ts'
import type { FieldsPatch } from '../../service/plant-content.ts'
import type {
  ApplyMode,
  ChangeResult,
  CountedRange,
  CountRequest,
  CreateResult,
  NewPlant,
  NoMatch,
  PageRequest,
  PlantChange,
  PlantFilter,
  PlantPage,
  PlantPatch,
  PlantStore,
  SearchRequest,
  StoredPlant,
  TagPage,
  TagsRequest,
} from '../../service/plant-store.ts'
import { contentVersion, isRefusal, LISTED_TAG_MAX } from '../../service/plant-store.ts'
import { byId, pageWith } from './plants.ts'

/** The methods of PlantStore that a Map can model, each with the result that a store's method must resolve to. */
export type Modeled = {
  [Name in Exclude<keyof PlantStore, 'ping' | 'exportPlants' | keyof ChangeFeed>]: (
    ...parameters: Parameters<PlantStore[Name]>
  ) => Awaited<ReturnType<PlantStore[Name]>>
} & { exportPlants(): StoredPlant[] }

/** PlantStore on a Map. */
export class PlantModel implements Modeled {
  #plants: Map<bigint, StoredPlant>

  constructor(plants: Iterable<StoredPlant> = []) {
    this.#plants = new Map(Array.from(plants, (plant) => [plant.id, plant]))
  }

  copy(): PlantModel {
    return new PlantModel(this.#plants.values())
  }

  create(plant: NewPlant): CreateResult {
    const stored = this.#plants.get(plant.id)
    if (stored !== undefined) return isSame(stored, put(stored, plant)) ? 'replayed' : 'conflict'
    this.#plants.set(plant.id, put(undefined, plant))
    return 'created'
  }

  apply(changes: readonly PlantChange[], mode: ApplyMode): ChangeResult[] {
    const after = this.copy()
    const results = changes.map((change) => after.#change(change))
    if (mode === 'each' || !results.some(isRefusal)) this.#plants = after.#plants
    return results
  }

  get(id: bigint): StoredPlant | undefined {
    return this.#plants.get(id)
  }

  list(request: PageRequest): PlantPage {
    return this.search({ ...request, text: '' })
  }

  getAll(ids: readonly bigint[]): PlantPage {
    const plants = this.exportPlants().filter(({ id }) => ids.includes(id))
    return pageWith(plants.map(toStored))
  }

  search({ after, limit, ...filter }: SearchRequest): PlantPage {
    const plants = this.#matching(filter).filter(({ id }) => after === undefined || id > after)
    const page = plants.slice(0, limit).map(toStored)
    return pageWith(page, plants.length > limit ? page.at(-1)?.id : undefined)
  }

  count({ after, ...filter }: CountRequest): CountedRange {
    const { found } = this.search({ ...filter, after, limit: Number.MAX_SAFE_INTEGER })
    return { found, next: undefined }
  }

  #matching({ text, tag }: PlantFilter): StoredPlant[] {
    return this.exportPlants()
      .filter((plant) => tag === undefined || (plant.tag ?? null) === tag)
      .filter(({ name }) => toAsciiLowerCase(name).includes(toAsciiLowerCase(text)))
  }

  /** In code point order, which is not that of every engine. */
  listTags({ after, limit }: TagsRequest): TagPage {
    const all = new Set(this.exportPlants().flatMap(({ tag }) => tag ?? []))
    const tags = [...all]
      .filter((tag) => [...tag].length <= LISTED_TAG_MAX)
      .filter((tag) => after === undefined || compareCodePoints(tag, after) > 0)
      .sort(compareCodePoints)
    const page = tags.slice(0, limit)
    return { tags: page, next: tags.length > limit ? page.at(-1) : undefined }
  }

  update(id: bigint, patch: PlantPatch, expected?: readonly string[]): StoredPlant | NoMatch {
    const stored = this.#find(id, expected)
    if (typeof stored === 'string') return stored
    const name = patch.name ?? stored.name
    const tag = patch.tag === undefined ? (stored.tag ?? null) : patch.tag
    const plant = toStored({ id, name, ...(tag !== null && { tag }), ...merge(stored, patch) })
    this.#plants.set(id, plant)
    return plant
  }

  remove(id: bigint, expected?: readonly string[]): 'removed' | NoMatch {
    const stored = this.#find(id, expected)
    if (typeof stored === 'string') return stored
    this.#plants.delete(id)
    return 'removed'
  }

  exportPlants(): StoredPlant[] {
    return byId(this.#plants.values())
  }

  #change(change: PlantChange): ChangeResult {
    const { id } = change
    const before = this.#plants.get(id)
    const done = (result: ChangeResult) => {
      const after = this.#plants.get(id)
      return isSame(before, after) ? 'unchanged' : result
    }
    switch (change.type) {
      case 'create':
        return this.create(change)
      case 'put':
        this.#plants.set(id, put(before, change))
        return done(before === undefined ? 'created' : 'updated')
      case 'update': {
        const result = this.update(id, change.patch, change.expected)
        return typeof result === 'string' ? result : done('updated')
      }
      case 'remove': {
        const result = this.remove(id, change.expected)
        return result === 'not-found' && change.expected === undefined ? 'unchanged' : result
      }
    }
  }

  #find(id: bigint, expected?: readonly string[]): StoredPlant | NoMatch {
    const stored = this.#plants.get(id)
    if (stored === undefined) return 'not-found'
    return expected === undefined || expected.includes(contentVersion(stored)) ? stored : 'changed'
  }
}

function toAsciiLowerCase(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}

/** The order of UTF-8, which differs from that of UTF-16. */
export function compareCodePoints(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other))
}

/** The plant after a create or put. */
function put(stored: StoredPlant | undefined, { id, name, tag, ...patch }: NewPlant): StoredPlant {
  return toStored({ id, name, ...(tag !== undefined && { tag }), ...merge(stored, patch) })
}

/** The own fields after a patch, as members of an object. */
function merge(stored: StoredPlant | undefined, { fields = '', clears = '' }: FieldsPatch) {
  const parts = [stored?.fields ?? '', fields, clears].map((part) => parseNumbers(`{${part}}`))
  const values: Record<string, unknown> = Object.assign({}, ...parts)
  const names = Object.keys(values).filter((name) => values[name] !== null)
  const members = names.sort().map((name) => [name, values[name]].map((it) => JSON.stringify(it)))
  return members.length === 0 ? {} : { fields: members.map((member) => member.join(':')).join() }
}

const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown }

/** Parses JSON in which each number keeps its text, because it can be an int64. */
function parseNumbers(json: string): unknown {
  const exact = (_name: string, value: unknown, context?: { source: string }) =>
    typeof value === 'number' ? rawJSON(String(context?.source)) : value
  return JSON.parse(json, exact)
}

function toStored({ id, name, tag, fields }: StoredPlant): StoredPlant {
  return {
    id,
    name,
    ...(tag !== undefined && { tag }),
    ...(fields !== undefined && { fields }),
  }
}

function isSame(one: StoredPlant | undefined, other: StoredPlant | undefined): boolean {
  return one !== undefined && other !== undefined && contentVersion(one) === contentVersion(other)
}
