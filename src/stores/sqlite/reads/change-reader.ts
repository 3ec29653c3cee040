import type { Database } from 'better-sqlite3'
import { known } from '../../../../core/known.ts'
import type {
  Change,
  ChangePage,
  ChangesRequest,
  NoChanges,
} from '../../../../service/store/change-feed.ts'
import { PAGE_TEXT_MAX } from '../../../../service/store/plant-store.ts'
import { decodeCursor, encodeCursor } from '../../shared/cursor.ts'
import { CHANGES_MAX, ROW_TEXT_MAX, ROWS_MAX } from '../../shared/page-limits.ts'
import { CONTENT_COLUMNS, toChange } from '../../shared/rows.ts'
import { FEED_START } from '../feed/change-pruner.ts'
import { CHANGE_TYPES } from '../feed/change-triggers.ts'
import { TEXT_BYTES } from './plant-json.ts'

/** Where a cursor points to. */
interface FeedRowKey {
  readonly position: bigint
  readonly at: bigint
}

interface FeedRow extends FeedRowKey {
  readonly type: bigint
  readonly id: bigint
  /** Null if the plant was removed or is large. */
  readonly name: string | null
  readonly tag: string | null
  readonly fields: string | null
  /** 1 if a transaction is known to end with the change. */
  readonly ends: bigint | null
  readonly bytes: bigint
}

/**
 * Prepares ChangeFeed.readChanges.
 *
 * @returns a function that must be called in a transaction, because the feed could be shortened between its statements
 */
export function prepareChangeRead(
  db: Database,
): (request: ChangesRequest) => ChangePage | NoChanges {
  const { findFeedId, feedStart, end, rowAt, page, plantAt } = prepareStatements(db)

  /** The position after which to read, which has a row. */
  const locate = (feedId: Uint8Array, after: string | undefined): FeedRowKey | NoChanges => {
    const start = known(feedStart.get())
    if (after === undefined) return known(rowAt.get(start))
    if (after === 'latest') return known(rowAt.get(known(end.get())))
    const cursor = decodeCursor(after)
    if (cursor === undefined) return 'malformed'
    if (Buffer.compare(cursor.feedId, feedId) !== 0) return 'expired'
    const row = rowAt.get(cursor.position)
    // After a restore, another change can have the position of one that was lost.
    return row?.at === BigInt(cursor.at) && row.position >= start ? row : 'expired'
  }

  return ({ after, limit }) => {
    const feedId = known(findFeedId.get())
    // A snapshot contains whole transactions, so one ends here, even if another program made it.
    const feedEnd = end.get()
    const start = locate(feedId, after)
    if (typeof start === 'string') return start
    const toCursor = ({ position, at }: FeedRowKey) =>
      encodeCursor({ feedId, position, at: Number(at) })
    const changes: Change[] = []
    let last = start
    const most = Math.min(limit, CHANGES_MAX)
    let text = 0
    while (changes.length < most && text < PAGE_TEXT_MAX) {
      const wanted = Math.min(most - changes.length, ROWS_MAX)
      const rows = page.all(last.position, wanted)
      for (const row of rows) {
        const sum = text + Number(row.bytes)
        if (text > 0 && sum > PAGE_TEXT_MAX) return { changes, next: toCursor(last) }
        text = sum
        last = row
        // The feed begins after its start, so the row is a change.
        const type = known(CHANGE_TYPES[Number(row.type)])
        const { id, position } = row
        const isEnd = row.ends === 1n || position === feedEnd
        const { name, tag, fields } = row.bytes > ROW_TEXT_MAX ? known(plantAt.get(position)) : row
        const change = { at: Number(row.at), type, id, name, tag, fields, isEnd }
        changes.push(toChange(toCursor(row), change))
      }
      if (rows.length < wanted) break
    }
    return { changes, next: changes.at(-1)?.cursor ?? toCursor(last) }
  }
}

const small = (column: string) =>
  `CASE WHEN ${column} IS NOT NULL AND ${TEXT_BYTES} <= ${ROW_TEXT_MAX} THEN ${column} END AS ${column}`

function prepareStatements(db: Database) {
  return {
    findFeedId: db.prepare<[], Uint8Array>('SELECT id FROM change_log').pluck(),
    feedStart: db.prepare<[], bigint>(FEED_START).pluck(),
    end: db.prepare<[], bigint>('SELECT max(position) FROM changes').pluck(),
    rowAt: db.prepare<bigint, FeedRowKey>('SELECT position, at FROM changes WHERE position = ?'),
    // See the statements of Reader for the form of the limit.
    page: db.prepare<[bigint, number], FeedRow>(
      `SELECT position, at, type, id, ends, ${CONTENT_COLUMNS.map(small).join(', ')}, ${TEXT_BYTES} AS bytes FROM changes
       WHERE position > ? ORDER BY position LIMIT ? + 0`,
    ),
    plantAt: db.prepare<bigint, FeedRow>(
      `SELECT ${CONTENT_COLUMNS.join(', ')} FROM changes WHERE position = ?`,
    ),
  }
}
