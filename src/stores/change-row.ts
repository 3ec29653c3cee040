import type { Change } from '../../service/change-feed.ts'

/** A change as the log stores it. */
export interface ChangeRow {
  /** In milliseconds since 1970. */
  readonly at: number
  readonly type: Change['type']
  readonly id: bigint
  /** Null if the plant was removed. */
  readonly name: string | null
  readonly tag: string | null
}

/** @param cursor of the change, encoded */
export function toChange(cursor: string, { at, type, id, name, tag }: ChangeRow): Change {
  const change = { cursor, at: new Date(at).toISOString(), id }
  if (type === 'removed' || name === null) return { ...change, type: 'removed' }
  return { ...change, type, plant: tag === null ? { name } : { name, tag } }
}
