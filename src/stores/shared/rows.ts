import type { Change } from '../../../service/store/change-feed.ts'
import { toContent } from '../../../service/store/plant-content.ts'
import type { Plant, PlantPage, StoredPlant } from '../../../service/store/plant-store.ts'
import type { RecordKind, StoredRecord } from '../../../service/store/record-store.ts'

/**
 * The columns of the table `plants` on both engines, except the id. Migrations and triggers spell them out, because
 * those must never change.
 */
export const CONTENT_COLUMNS = ['name', 'tag', 'fields'] as const

/** All columns of the table `plants`, in SQL. */
export const PLANT_COLUMNS = ['id', ...CONTENT_COLUMNS].join(', ')

/** A row of the table `plants`. */
export interface PlantRow {
  readonly id: bigint
  readonly name: string
  readonly tag: string | null
  readonly fields: string | null
}

/** The values of CONTENT_COLUMNS, in their order. Spelled out, because a loop makes a create 3 % more expensive. */
export function contentValues({ name, tag, fields }: Plant): (string | null)[] {
  return [name, tag ?? null, fields ?? null]
}

export function toPlant({ id, name, tag, fields }: PlantRow): StoredPlant {
  if (fields === null) return tag === null ? { id, name } : { id, name, tag }
  return tag === null ? { id, name, fields } : { id, name, tag, fields }
}

/** A page of plants, from the JSON of each. */
export function pageOf(plants: readonly string[], next?: bigint): PlantPage {
  return { json: `[${plants.join(',')}]` as PlantPage['json'], found: plants.length, next }
}

/** A change as the feed stores it, with the columns of a plant. */
export interface ChangeRow {
  /** In milliseconds since 1970. */
  readonly at: number
  readonly type: Change['type']
  readonly id: bigint
  /** Null if the plant was removed. */
  readonly name: string | null
  readonly tag: string | null
  readonly fields: string | null
  /** Whether a transaction ends with the change, as far as is known. */
  readonly isEnd: boolean
}

/** @param cursor of the change, encoded */
export function toChange(
  cursor: string,
  { at, type, id, name, tag, fields, isEnd }: ChangeRow,
): Change {
  const change = { cursor, at: new Date(at).toISOString(), id }
  const end = isEnd ? { endsTransaction: true } : {}
  if (type === 'removed' || name === null) return { ...change, type: 'removed', ...end }
  return { ...change, type, plant: toContent({ name, tag, fields }), ...end }
}

/** The columns of a RecordRow, in SQL. */
export const RECORD_COLUMNS = 'kind, key, alias, value'

/** A row of the table `plant_store_records`. */
export interface RecordRow {
  readonly kind: RecordKind
  readonly key: string
  readonly alias: string | null
  readonly value: string
}

export function toRecord({ kind, key, alias, value }: RecordRow): StoredRecord {
  return alias === null ? { kind, key, value } : { kind, key, alias, value }
}
