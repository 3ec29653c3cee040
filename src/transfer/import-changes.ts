import type { RecordValues } from '../../core/files/record-mapper.ts'
import { known } from '../../core/known.ts'
import type { PlantCodec } from '../../service/plant-codec.ts'
import {
  type ChangeResult,
  isRefusal,
  type ListResult,
  type NewPlant,
  type PlantChange,
  type StoredPlant,
} from '../../service/store/plant-store.ts'
import type { ApplyMode } from '../../service/store/record-store.ts'
import { decide } from '../stores/shared/plant-change.ts'
import type { PlantFinder } from './plant-finder.ts'
import type { RecordIds, RecordTarget } from './record-ids.ts'

/** What to do about an invalid record. */
export const onErrors = ['stop', 'skip'] as const
export type OnError = (typeof onErrors)[number]

/** What to do if a different plant is stored under the id of a record. */
export const onConflicts = ['stop', 'keep', 'replace', 'update'] as const
export type OnConflict = (typeof onConflicts)[number]

/** `refuse` counts such a record as refused and imports the rest: for a dry run, which reads the whole file. */
export type ConflictAction = OnConflict | 'refuse'

/** The type of change for each plant of the file, and what its results mean to an import. */
const CHANGES: {
  readonly [action in Exclude<ConflictAction, 'update'>]: {
    readonly type: 'create' | 'put'
    readonly mode: ApplyMode
    readonly results: { readonly [result in ChangeResult]?: ImportResult }
  }
} = {
  stop: {
    type: 'create',
    mode: 'all-or-none',
    results: { created: 'created', unchanged: 'replayed', 'plant-exists': 'conflict' },
  },
  refuse: {
    type: 'create',
    mode: 'each',
    results: { created: 'created', unchanged: 'replayed', 'plant-exists': 'conflict' },
  },
  keep: {
    type: 'create',
    mode: 'each',
    results: { created: 'created', unchanged: 'replayed', 'plant-exists': 'kept' },
  },
  replace: {
    type: 'put',
    mode: 'each',
    results: { created: 'created', unchanged: 'replayed', changed: 'replaced' },
  },
}

const UPDATE_RESULTS: { readonly [result in ChangeResult]?: StoredResult } = {
  created: 'created',
  unchanged: 'replayed',
  changed: 'updated',
}

type ImportResult = StoredResult | 'conflict'

/** The results of records that are not refused. */
export type StoredResult = 'created' | 'replayed' | 'kept' | 'replaced' | 'updated'

export type ImportChange = Extract<PlantChange, { readonly type: 'create' | 'put' | 'update' }>

/** The part of the store that an import needs. */
export interface ImportStore {
  /** See PlantStore.apply. */
  apply(changes: readonly ImportChange[], mode: ApplyMode): Promise<ListResult>
}

/** A valid record, and the plant that it is about. */
export interface PlannedRecord extends RecordTarget {
  readonly values: RecordValues
  /** The plant that the record describes on its own. Undefined if it can only update one. */
  readonly plant?: NewPlant
  /** What a new plant lacks. */
  readonly missing?: string
}

/** What became of a record. */
export interface Outcome {
  readonly result: ImportResult | 'refused' | 'blank'
  /** The plant that is stored, or that conflicts. */
  readonly plant?: NewPlant
  /** Why it is refused. */
  readonly reason?: string | undefined
  /** The number of values that it has removed. */
  readonly removed?: number
}

/**
 * Stores plants, in one transaction unless they affect too much text, and resolves to their results in the same order.
 * With `stop`, those from the first conflict on are not stored, and the results end with a conflict.
 */
export async function importPlants(
  store: ImportStore,
  plants: readonly NewPlant[],
  onConflict: keyof typeof CHANGES,
): Promise<ImportResult[]> {
  const { type, mode, results } = CHANGES[onConflict]
  const isStop = (result: ImportResult) => mode === 'all-or-none' && result === 'conflict'
  const again = (some: readonly NewPlant[]) => importPlants(store, some, onConflict)
  if (plants.length === 0) return []
  const changes = plants.map((plant) => ({ ...plant, type }))
  const applied = await store.apply(changes, mode)
  if (applied === 'too-large') return inHalves(plants, again, isStop)
  const imported = applied.map((result) => known(results[result]))
  const conflict = imported.findIndex(isStop)
  if (conflict === -1) return imported
  return [...(await again(plants.slice(0, conflict))), 'conflict']
}

/** Creates plants under ids that the import has chosen, or under the next ones if others have used these. */
export async function createPlants(
  store: ImportStore,
  plants: readonly NewPlant[],
  ids: RecordIds,
): Promise<Outcome[]> {
  if (plants.length === 0) return []
  const again = (some: readonly NewPlant[]) => createPlants(store, some, ids)
  const changes = plants.map((plant) => ({ ...plant, type: 'create' as const }))
  const applied = await store.apply(changes, 'each')
  if (applied === 'too-large') return inHalves(plants, again)
  const isTaken = (_plant: unknown, index: number) =>
    applied[index] === 'plant-exists' ||
    (applied[index] === 'unchanged' && ids.recognizesPlants !== true)
  const taken = plants.filter(isTaken)
  const free = known(ids.free)
  if (taken.length > 0) await free.skipTaken()
  const created = await again(taken.map((plant) => ({ ...plant, id: free.take() })))
  let next = 0
  return plants.map((plant, index) =>
    isTaken(plant, index)
      ? known(created[next++])
      : { result: known(CHANGES.keep.results[known(applied[index])]), plant },
  )
}

export interface UpdateOptions {
  readonly store: ImportStore
  readonly find: PlantFinder
  readonly codec: PlantCodec
  readonly onError: OnError
}

/**
 * Changes what records say about plants, and creates those that are not stored. If invalid records stop the import, the
 * results end with the first record of a new plant that is incomplete.
 */
export async function updatePlants(
  records: readonly PlannedRecord[],
  options: UpdateOptions,
): Promise<Outcome[]> {
  const { store, find, onError } = options
  const stored = await find(records.map(({ id }) => id))
  const isStop = ({ result }: Outcome) => onError === 'stop' && result === 'refused'
  const again = (some: readonly PlannedRecord[]) => updatePlants(some, options)
  if (stored === 'too-large') return inHalves(records, again, isStop)
  const planned = planUpdates(records, stored, options.codec)
  const end = planned.findIndex(({ outcome }) => isStop(outcome)) + 1
  const selected = end === 0 ? planned : planned.slice(0, end)
  const changes = selected.flatMap(({ change }) => change ?? [])
  const applied = changes.length === 0 ? [] : await store.apply(changes, 'all-or-none')
  if (applied === 'too-large') return inHalves(records, again, isStop)
  // Others have created or removed a plant in the meantime.
  if (applied.some(isRefusal)) return again(records)
  let next = 0
  return selected.map(({ change, outcome }) =>
    change === undefined
      ? outcome
      : { ...outcome, result: known(UPDATE_RESULTS[known(applied[next++])]) },
  )
}

interface PlannedUpdate {
  /** Undefined if the record is refused. */
  readonly change?: ImportChange
  /** What becomes of the record if nobody else changes the plant. */
  readonly outcome: Outcome
}

function planUpdates(
  records: readonly PlannedRecord[],
  stored: ReadonlyMap<bigint, StoredPlant>,
  codec: PlantCodec,
): PlannedUpdate[] {
  const plants = new Map(stored)
  return records.map(({ id, values, plant, missing }) => {
    const before = plants.get(id)
    const change = before === undefined ? toCreate(plant) : toUpdate(id, values, codec)
    if (change === undefined) return { outcome: { result: 'refused', reason: missing } }
    const { result, after } = decide(before, change)
    const removed = before === undefined ? 0 : countRemoved(before, values)
    plants.set(id, known(after))
    const outcome = { result: known(UPDATE_RESULTS[result]), plant: known(after), removed }
    return { change, outcome }
  })
}

function toCreate(plant: NewPlant | undefined): ImportChange | undefined {
  return plant && { ...plant, type: 'create' }
}

function toUpdate(id: bigint, values: RecordValues, codec: PlantCodec): ImportChange {
  return {
    type: 'update',
    id,
    patch: codec.toPatch(values as Parameters<PlantCodec['toPatch']>[0]),
  }
}

function countRemoved({ tag, fields = '' }: StoredPlant, values: RecordValues): number {
  return Object.entries(values).filter(([name, value]) => {
    if (value !== null) return false
    // No value contains it, because quotes are escaped there.
    return name === 'tag' ? tag !== undefined : fields.includes(`${JSON.stringify(name)}:`)
  }).length
}

/** Changes in two parts what is too large for one transaction. Omits the second part if the first one has stopped. */
async function inHalves<Item, Result>(
  items: readonly Item[],
  change: (some: readonly Item[]) => Promise<Result[]>,
  isStop: (result: Result) => boolean = () => false,
): Promise<Result[]> {
  const middle = Math.ceil(items.length / 2)
  const first = await change(items.slice(0, middle))
  if (first.some(isStop)) return first
  return [...first, ...(await change(items.slice(middle)))]
}
