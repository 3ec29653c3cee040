import type { Database } from 'better-sqlite3'
import { known } from '../../../../core/known.ts'
import { textLength } from '../../../../service/store/plant-content.ts'
import {
  type ChangeOutcome,
  type ChangeResult,
  isRefusal,
  LIST_TEXT_MAX,
  type ListResult,
  type PlantChange,
  type StoredPlant,
} from '../../../../service/store/plant-store.ts'
import { ROW_TEXT_MAX } from '../../shared/page-limits.ts'
import {
  type ChangeList,
  decide,
  type Effect,
  isLarge,
  LARGE_PLANTS,
  listTextMax,
  measureEffect,
} from '../../shared/plant-change.ts'
import {
  CONTENT_COLUMNS,
  contentValues,
  PLANT_COLUMNS,
  type PlantRow,
  toPlant,
} from '../../shared/rows.ts'
import { MARK_END } from '../feed/change-triggers.ts'
import { TEXT_BYTES } from '../reads/plant-json.ts'

/** Prepares the changes that PlantStore describes. The caller runs them in a transaction. */
export function preparePlantChanges(db: Database) {
  const table = preparePlantTable(db)
  const markEnd = db.prepare(MARK_END)
  /** The text that the transaction has affected, in bytes. */
  const affected = { bytes: 0 }

  return {
    begin(): void {
      affected.bytes = 0
    },
    /** Whether the transaction has affected so much text that a list with large plants must wait for another one. */
    mustListWait: (changes: readonly PlantChange[]): boolean =>
      affected.bytes >= LIST_TEXT_MAX &&
      changes.some((change) => isLarge(change, table.measure(change.id))),
    /** Whether it has affected so much that a single change must wait, because its plant is or becomes large. */
    mustWait(change: PlantChange): boolean {
      if (affected.bytes < LARGE_PLANTS.affectedMax) return false
      const bytesMax = affected.bytes < LIST_TEXT_MAX ? LARGE_PLANTS.bytes : ROW_TEXT_MAX
      return isLarge(change, table.measure(change.id), bytesMax)
    },
    /** See PlantStore.change. */
    change(change: PlantChange): ChangeOutcome {
      // A new plant needs no read.
      if (change.type === 'create' && table.store(change)) {
        // In UTF-16 units, which costs less than to count bytes.
        affected.bytes += textLength(change)
        return 'created'
      }
      const before = table.find(change.id)
      const { result, after } = decide(before, change)
      const effect = { before, after }
      affected.bytes += measureEffect(effect)
      table.write(effect)
      const returnsPlant = change.type === 'update' || change.type === 'replace'
      return returnsPlant && !isRefusal(result) ? known(after) : result
    },
    /** See PlantStore.apply. */
    apply(list: ChangeList): ListResult {
      const plan = planList(table, list, affected)
      if (plan === undefined) return 'too-large'
      const { effects, results } = plan
      if (list.mode === 'all-or-none' && results.some(isRefusal)) return results
      markEnd.run()
      table.writeAll(effects)
      markEnd.run()
      return results
    },
  }
}

/** The plants whose ids are in an array in JSON, in its order. */
const LISTED = 'json_each(?) AS listed CROSS JOIN plants ON plants.id = listed.value'

// One statement for a list, because a statement costs as much as finding several plants, or as storing one.
export const MEASURE_ALL = `SELECT sum(${TEXT_BYTES}) FROM ${LISTED}`
export const FIND_ALL = `SELECT plants.* FROM ${LISTED}`

/** Stores the plants of an array of rows in JSON, in its order, whether they are new or not. */
export const STORE_ALL = `
  INSERT INTO plants (${PLANT_COLUMNS})
  SELECT value ->> 0, ${CONTENT_COLUMNS.map((_, index) => `value ->> ${index + 1}`).join(', ')} FROM jsonb_each(?)
  WHERE true ON CONFLICT (id) DO UPDATE SET ${CONTENT_COLUMNS.map((column) => `${column} = excluded.${column}`).join(', ')}`

/**
 * Plants share such a statement if there are enough of them for it to be cheaper. It takes several times the memory of
 * their text, in UTF-16 units, so that is limited, and a plant with much text has a statement of its own.
 */
const SHARED = { plantsMin: 4, textMax: 2 ** 16, plantTextMax: 2 ** 9 }

type PlantTable = ReturnType<typeof preparePlantTable>

function preparePlantTable(db: Database) {
  const insert = db.prepare(
    `INSERT INTO plants (id, ${CONTENT_COLUMNS.join(', ')})
     VALUES (?, ${CONTENT_COLUMNS.map(() => '?').join(', ')}) ON CONFLICT DO NOTHING`,
  )
  const select = db.prepare<bigint, PlantRow>('SELECT * FROM plants WHERE id = ?')
  const measure = db
    .prepare<bigint, number>(`SELECT ${TEXT_BYTES} FROM plants WHERE id = ?`)
    .safeIntegers(false)
    .pluck()
  const measureAll = db.prepare<string, number | null>(MEASURE_ALL).safeIntegers(false).pluck()
  const findAll = db.prepare<string, PlantRow>(FIND_ALL)
  const replace = db.prepare(
    `UPDATE plants SET ${CONTENT_COLUMNS.map((column) => `${column} = ?`).join(', ')} WHERE id = ?`,
  )
  const erase = db.prepare('DELETE FROM plants WHERE id = ?')
  const storeAll = db.prepare(STORE_ALL)

  /** Returns false if the id is taken. */
  const store = (plant: StoredPlant): boolean =>
    insert.run(plant.id, ...contentValues(plant)).changes === 1
  const write = ({ before, after }: Effect): void => {
    if (before === after) return
    if (after === undefined) erase.run(before?.id)
    else if (before === undefined) store(after)
    else replace.run(...contentValues(after), after.id)
  }
  const writeTogether = (stored: readonly Effect[]): void => {
    if (stored.length < SHARED.plantsMin) stored.forEach(write)
    else storeAll.run(`[${stored.map(({ after }) => toJsonRow(known(after))).join()}]`)
  }
  return {
    store,
    /** The bytes of a plant's text, which are not read; undefined if there is no plant. */
    measure: (id: bigint): number | undefined => measure.get(id),
    find(id: bigint): StoredPlant | undefined {
      const row = select.get(id)
      return row && toPlant(row)
    },
    /** The plants with some ids, which are distinct, in their order; undefined if their text has more than some bytes. */
    findAll(ids: readonly bigint[], bytesMax: number): StoredPlant[] | undefined {
      const list = `[${ids.join()}]`
      const bytes = measureAll.get(list)
      if (bytes === null) return []
      return known(bytes) > bytesMax ? undefined : findAll.all(list).map(toPlant)
    },
    write,
    /** Makes the effects of a list in order. Consecutive small plants are stored together. */
    writeAll(effects: readonly Effect[]): void {
      let stored: Effect[] = []
      let text = 0
      const writeStored = () => {
        writeTogether(stored)
        stored = []
        text = 0
      }
      for (const effect of effects) {
        const { before, after } = effect
        if (before === after) continue
        const length = after === undefined ? Number.POSITIVE_INFINITY : textLength(after)
        if (length > SHARED.plantTextMax) {
          writeStored()
          write(effect)
          continue
        }
        stored.push(effect)
        text += length
        if (text >= SHARED.textMax) writeStored()
      }
      writeStored()
    },
  }
}

/** A row of the table `plants` as an array in JSON. */
function toJsonRow(plant: StoredPlant): string {
  return `[${plant.id},${JSON.stringify(contentValues(plant)).slice(1)}`
}

/**
 * Decides what the changes of a list do before it makes any. Returns undefined if they affect too much text, having
 * read no more than that.
 *
 * @param affected counts the text, in bytes
 */
function planList(
  { findAll }: Pick<PlantTable, 'findAll'>,
  list: ChangeList,
  affected: { bytes: number },
) {
  const { changes } = list
  const order = orderById(changes)
  const ids = order.map((index) => known(changes[index]).id)
  const bytesMax = listTextMax(list)
  const found = findAll(
    ids.filter((id, at) => id !== ids[at - 1]),
    bytesMax,
  )
  if (found === undefined) return undefined
  const affectedMax = affected.bytes + bytesMax
  const effects: Effect[] = []
  const results: ChangeResult[] = []
  let next = 0
  let last: { readonly id: bigint; readonly plant: StoredPlant | undefined } | undefined
  for (const index of order) {
    const change = known(changes[index])
    const { id } = change
    if (last?.id !== id) last = { id, plant: found[next]?.id === id ? found[next++] : undefined }
    const { result, after } = decide(last.plant, change)
    const effect = { before: last.plant, after }
    affected.bytes += measureEffect(effect)
    if (affected.bytes > affectedMax) return undefined
    results[index] = result
    effects.push(effect)
    last = { id, plant: after }
  }
  return { effects, results }
}

/**
 * The indexes of changes, sorted by id, because neighboring ids share a page of the file. The sort is stable, so
 * changes to one plant stay in order.
 */
function orderById(changes: readonly PlantChange[]): number[] {
  const ids = changes.map(({ id }) => id)
  return [...ids.keys()].sort((one, other) => {
    const [a, b] = [known(ids[one]), known(ids[other])]
    return a < b ? -1 : Number(a > b)
  })
}
