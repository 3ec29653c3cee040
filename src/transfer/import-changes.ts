import { known } from '../../core/known.ts'
import type { Member } from '../../core/members/members.ts'
import { readFields, textLength } from '../../service/store/plant-content.ts'
import {
  type ChangeOf,
  type ChangeResult,
  isRefusal,
  LIST_TEXT_MAX,
  type ListResult,
  type NewPlant,
  type PlantPatch,
  type PlantStore,
  type StoredPlant,
} from '../../service/store/plant-store.ts'
import { decide } from '../stores/shared/plant-change.ts'
import { type PlantFinder, plantFinder } from './plant-finder.ts'
import type { RecordIds, RecordTarget } from './record-ids.ts'

/** What to do if a different plant is stored under the id of a record. */
export const onConflicts = ['stop', 'keep', 'replace', 'update'] as const
export type OnConflict = (typeof onConflicts)[number]

/** The results of records that are not refused. */
export type StoredResult = 'created' | 'replayed' | 'kept' | 'replaced' | 'updated'

export type ImportChange = ChangeOf<'create' | 'put' | 'update'>

/** The part of a store that an import needs. */
export interface ImportStore {
  readonly find: PlantFinder
  /** See PlantStore.apply. */
  apply(changes: readonly ImportChange[], mode: 'all-or-none'): Promise<ListResult>
}

/** What an import needs of a store. */
export function importStore(
  store: Pick<PlantStore, 'apply' | 'getAll'>,
  members: readonly Member[],
): ImportStore {
  return {
    find: plantFinder(store, members),
    apply: (changes, mode) => store.apply(changes, mode),
  }
}

/** A valid record, and the plant that it is about. */
export interface PlannedRecord extends RecordTarget {
  /** Creates the plant that the record describes on its own, or says what it lacks: then, it can only update one. */
  readonly plant: ChangeOf<'create'> | string
  /** What the record changes of a stored plant. Undefined unless plants are updated. */
  readonly patch?: PlantPatch
}

/** What became of a record. */
export interface Outcome {
  readonly result: StoredResult | 'conflict' | 'refused' | 'blank'
  /** Why it is refused. */
  readonly reason?: string
  /** The plant that is stored, or that conflicts. */
  readonly plant?: NewPlant
  /** The plant that was stored before. */
  readonly before?: StoredPlant | undefined
  /** The number of values that it has removed. */
  readonly removed?: number
}

export interface ChangeOptions {
  readonly store: ImportStore
  readonly ids: RecordIds
  readonly onConflict: OnConflict
  /** Whether a record stops the import. */
  readonly isStop: (outcome: Outcome) => boolean
}

/** What becomes of a record if nobody else changes the plant. */
interface PlannedOutcome extends Outcome {
  /** Undefined if the record needs no change. */
  readonly change?: ImportChange | undefined
}

/**
 * Stores records, in one transaction unless they affect too much text, and resolves to what became of them in the same
 * order. The results end with a record that stops the import, if there is one.
 */
export async function storeRecords(
  records: readonly PlannedRecord[],
  options: ChangeOptions,
): Promise<Outcome[]> {
  const { store, ids, isStop } = options
  const found = await store.find(records.flatMap(({ id, isNew }) => (isNew ? [] : id)))
  if (found === 'too-large') return storeHalves(records, options)
  const planned = planChanges(records, found, options)
  if (planned === 'too-large') return storeHalves(records, options)
  const end = planned.findIndex(isStop) + 1
  const selected = end === 0 ? planned : planned.slice(0, end)
  const changes = selected.flatMap(({ change }) => change ?? [])
  const applied = changes.length === 0 ? [] : await store.apply(changes, 'all-or-none')
  if (applied === 'too-large') return storeHalves(records, options)
  // Others have created or removed plants in the meantime.
  if (applied.some(isRefusal)) return storeRecords(await renew(records, ids), options)
  let next = 0
  const outcomes: Outcome[] = []
  for (const [index, planned] of selected.entries()) {
    const { change } = planned
    const result = change ? toOutcome(known(applied[next++]), options) : planned.result
    const record = known(records[index])
    // Others have added an equal plant under the same id.
    const isTaken = record.isNew && change && result === 'replayed' && !ids.recognizesPlants
    if (isTaken) outcomes.push(...(await storeRecords(await renew([record], ids), options)))
    else outcomes.push(result === planned.result ? planned : { ...planned, result })
  }
  return outcomes
}

/** Chooses other ids for new plants. */
async function renew(
  records: readonly PlannedRecord[],
  { free }: RecordIds,
): Promise<PlannedRecord[]> {
  await free?.skipTaken()
  return records.map((record) => (record.isNew ? { ...record, id: known(free).take() } : record))
}

/** Stores in two parts what is too large for one transaction, unless the first one stops the import. */
async function storeHalves(
  records: readonly PlannedRecord[],
  options: ChangeOptions,
): Promise<Outcome[]> {
  const middle = Math.ceil(records.length / 2)
  const first = await storeRecords(records.slice(0, middle), options)
  if (first.some(options.isStop)) return first
  return [...first, ...(await storeRecords(records.slice(middle), options))]
}

/** Stops if the plants become too large: many records can change one, each of which makes a copy of its own fields. */
function planChanges(
  records: readonly PlannedRecord[],
  found: ReadonlyMap<bigint, StoredPlant>,
  options: ChangeOptions,
): PlannedOutcome[] | 'too-large' {
  const plants = new Map(found)
  const outcomes: PlannedOutcome[] = []
  let text = 0
  for (const record of records) {
    const { id, patch, plant } = record
    const before = plants.get(id)
    const change = toChange(record, before, options)
    if (change === undefined) {
      outcomes.push({ result: 'refused', reason: String(plant) })
      continue
    }
    const { result, after } = decide(before, change)
    plants.set(id, known(after))
    if (after !== before) text += textLength(known(after))
    if (text > LIST_TEXT_MAX && records.length > 1) return 'too-large'
    outcomes.push({
      change: after === before ? undefined : change,
      result: toOutcome(result, options),
      plant: result === 'plant-exists' ? (plant as NewPlant) : known(after),
      before,
      removed: before === undefined || patch === undefined ? 0 : countRemoved(before, patch),
    })
  }
  return outcomes
}

/** Undefined if the plant is neither stored nor complete. */
function toChange(
  { id, plant, patch }: PlannedRecord,
  before: StoredPlant | undefined,
  { onConflict }: ChangeOptions,
): ImportChange | undefined {
  if (patch !== undefined && before !== undefined) return { type: 'update', id, patch }
  if (typeof plant === 'string') return undefined
  if (onConflict === 'replace' && before !== undefined) return { ...plant, id, type: 'put' }
  // If others take the id first, it is refused.
  return plant.id === id ? plant : { ...plant, id }
}

function toOutcome(result: ChangeResult, { onConflict }: ChangeOptions): Outcome['result'] {
  if (result === 'created') return 'created'
  if (result === 'unchanged') return 'replayed'
  if (result === 'changed') return onConflict === 'update' ? 'updated' : 'replaced'
  return onConflict === 'keep' ? 'kept' : 'conflict'
}

function countRemoved(before: StoredPlant, { tag, clears = '' }: PlantPatch): number {
  // No value contains its name like this, because quotes are escaped there.
  const isStored = ([name]: readonly [string, string]) =>
    before.fields?.includes(`${JSON.stringify(name)}:`)
  const fields = readFields(clears).filter(isStored).length
  return tag === null && before.tag !== undefined ? fields + 1 : fields
}
