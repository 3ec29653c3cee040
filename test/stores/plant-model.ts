import { toWordMatch } from '../../core/members/words.ts'
import type { ChangeFeed } from '../../service/store/change-feed.ts'
import { contentVersion } from '../../service/store/content-version.ts'
import type { FieldsPatch } from '../../service/store/plant-content.ts'
import type { PlantFilter } from '../../service/store/plant-filter.ts'
import type {
  ChangeOf,
  ChangeOutcome,
  ChangeResult,
  ChangeType,
  CountedRange,
  CountRequest,
  Expectation,
  NewPlant,
  PageRequest,
  PlantChange,
  PlantPage,
  PlantPatch,
  PlantStore,
  SearchRequest,
  StoredPlant,
  TagPage,
  TagsRequest,
} from '../../service/store/plant-store.ts'
import { isRefusal, LISTED_TAG_MAX } from '../../service/store/plant-store.ts'
import type { ApplyMode, Guard } from '../../service/store/record-store.ts'
import { byId, pageWith } from './plants.ts'

/** The methods of PlantStore that a Map can model, each with the result that a store's method must resolve to. */
export type Modeled = {
  [Name in Exclude<
    keyof PlantStore,
    'ping' | 'exportPlants' | 'listSorted' | 'indexPlants' | keyof ChangeFeed
  >]: (...parameters: Parameters<PlantStore[Name]>) => Awaited<ReturnType<PlantStore[Name]>>
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

  change<Type extends ChangeType>(change: ChangeOf<Type>): ChangeOutcome<Type> {
    const result = this.#change(change)
    const isUpdated = ['replace', 'update'].includes(change.type) && !isRefusal(result)
    return (isUpdated ? this.get(change.id) : result) as ChangeOutcome<Type>
  }

  apply(changes: readonly PlantChange[], mode: ApplyMode | Guard): ChangeResult[] {
    const after = this.copy()
    const results = changes.map((change) => after.#change(change))
    if (mode !== 'all-or-none' || !results.some(isRefusal)) this.#plants = after.#plants
    return results
  }

  get(id: bigint): StoredPlant | undefined {
    return this.#plants.get(id)
  }

  getAll(ids: readonly bigint[]): PlantPage {
    const plants = this.exportPlants().filter(({ id }) => ids.includes(id))
    return pageWith(plants.map(toStored))
  }

  list({ after, isDescending, limit, ...filter }: PageRequest | SearchRequest): PlantPage {
    const ascending = this.#matching(filter)
    const plants = (isDescending ? ascending.reverse() : ascending).filter(
      ({ id }) => after === undefined || (isDescending ? id < after : id > after),
    )
    const page = plants.slice(0, limit).map(toStored)
    return pageWith(page, plants.length > limit ? page.at(-1)?.id : undefined)
  }

  count({ after, ...filter }: CountRequest): CountedRange {
    const { found } = this.list({ ...filter, after, limit: Number.MAX_SAFE_INTEGER })
    return { found, next: undefined }
  }

  #matching({ words = [], tag }: PlantFilter): StoredPlant[] {
    return this.exportPlants()
      .filter((plant) => tag === undefined || (plant.tag ?? null) === tag)
      .filter(({ name }) => toWordMatch(words)(name))
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

  exportPlants(): StoredPlant[] {
    return byId(this.#plants.values())
  }

  #change(change: PlantChange): ChangeResult {
    const { id } = change
    const before = this.#plants.get(id)
    const store = (after: StoredPlant): ChangeResult => {
      if (isSame(before, after)) return 'unchanged'
      this.#plants.set(id, after)
      return before === undefined ? 'created' : 'changed'
    }
    switch (change.type) {
      case 'create':
        if (before === undefined) return store(put(before, change))
        return isSame(before, put(before, change)) ? 'unchanged' : 'plant-exists'
      case 'put':
        return store(put(before, change))
      case 'replace':
        if (before === undefined) return 'plant-not-found'
        return isExpected(before, change.expected) ? store(put(before, change)) : 'plant-changed'
      case 'update':
        if (before === undefined) return 'plant-not-found'
        return isExpected(before, change.expected)
          ? store(patched(before, change.patch))
          : 'plant-changed'
      case 'remove':
        if (before === undefined)
          return change.expected === undefined ? 'unchanged' : 'plant-not-found'
        if (!isExpected(before, change.expected)) return 'plant-changed'
        this.#plants.delete(id)
        return 'removed'
    }
  }
}

function isExpected(stored: StoredPlant, expected: Expectation | undefined): boolean {
  if (expected === undefined) return true
  if ('name' in expected) return isSame(stored, put(stored, expected))
  return expected.includes(contentVersion(stored))
}

/** The order of UTF-8, which differs from that of UTF-16. */
export function compareCodePoints(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other))
}

/** The plant after a create or put. */
function put(stored: StoredPlant | undefined, { id, name, tag, ...patch }: NewPlant): StoredPlant {
  return toStored({ id, name, ...(tag !== undefined && { tag }), ...merge(stored, patch) })
}

function patched(stored: StoredPlant, patch: PlantPatch): StoredPlant {
  const name = patch.name ?? stored.name
  const tag = patch.tag === undefined ? (stored.tag ?? null) : patch.tag
  return toStored({ id: stored.id, name, ...(tag !== null && { tag }), ...merge(stored, patch) })
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
