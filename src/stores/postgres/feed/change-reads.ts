import { known } from '../../../../core/known.ts'
import type { Change } from '../../../../service/store/change-feed.ts'
import { PAGE_TEXT_MAX } from '../../../../service/store/plant-store.ts'
import { type Cursor, encodeCursor } from '../../shared/cursor.ts'
import { CHANGES_MAX } from '../../shared/page-limits.ts'
import { CONTENT_COLUMNS, PLANT_COLUMNS, toChange } from '../../shared/rows.ts'
import { CAN_READ } from '../connection/permissions.ts'
import { one, type Run } from '../connection/pooled-client.ts'
import { CHANGE_TYPES, textLength } from './change-tables.ts'

/** The position of a cursor of this engine: a change of a commit. Sequence 0 is before the changes of the commit. */
export type CommitCursor = Required<Cursor>

interface EndRow extends Omit<CommitCursor, 'at'> {
  readonly at: bigint
}

function buildEndQuery(position: string): string {
  return `
    SELECT feed.id AS "feedId", commits.position, commits.sequence, commits.at
    FROM plant_change_log AS feed CROSS JOIN LATERAL (
      SELECT position, sequence, at FROM plant_commits WHERE position = ${position} LIMIT 1
    ) AS commits WHERE ${CAN_READ}`
}

/** The oldest commit in the ledger only marks the start of the feed: its changes, if it had any, are no longer retained. */
const OLDEST = buildEndQuery('feed.oldest')
const LATEST = buildEndQuery('feed.position')

/** The position before the first change, or after the last one; undefined if a concurrent change interfered. */
export async function findEnd(
  run: Run,
  end: 'oldest' | 'latest',
): Promise<CommitCursor | undefined> {
  const [row] = await run<EndRow>(end === 'oldest' ? OLDEST : LATEST)
  return row && { ...row, at: Number(row.at) }
}

/** One row for each change, or a single one without a change. */
interface ChangePageRow {
  readonly feedId: Buffer
  /** Whether the feed still has the change of the cursor. */
  readonly isKept: boolean
  /** Null in a row without a change. */
  readonly position: bigint | null
  readonly committedAt: bigint
  readonly sequence: bigint
  /** Whether it is the last change of its transaction. */
  readonly isEnd: boolean
  readonly at: Date
  readonly type: string
  readonly id: bigint
  readonly name: string | null
  readonly tag: string | null
  readonly fields: string | null
}

/** The sequence number after which a commit's changes are read. */
const AFTER = 'CASE WHEN commits.position = $1 THEN $2::bigint ELSE 0 END'

/**
 * A lower bound on what the preceding rows contribute to the page. A row that begins before the position contributes at
 * least one change.
 */
function sumBefore(all: string, least: number): string {
  return `
    sum(CASE WHEN sequences[1] > after THEN ${all} ELSE ${least} END) OVER (
      ORDER BY position, sequence ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )`
}

/**
 * The parameters are a position, the number of changes and the limit on text. The page ends with the change that reaches
 * the limit on text. The same statement checks the position, so that nothing is deleted
 * between the check and the read. Only rows that can be in the page are taken apart.
 */
const PAGE = `
  SELECT feed.id AS "feedId", page.*,
         $1 >= feed.oldest
         AND EXISTS (SELECT FROM plant_commits WHERE position = $1 AND sequence >= $2 AND at = $3) AS "isKept"
  FROM plant_change_log AS feed LEFT JOIN LATERAL (
    SELECT position, "committedAt", sequence, sequence = "lastSequence" AS "isEnd", at, type, ${PLANT_COLUMNS}
    FROM (
      SELECT *, sum(${textLength(CONTENT_COLUMNS)}) OVER (
                  ORDER BY position, sequence ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                ) AS before
      FROM (
        SELECT position, "committedAt", "lastSequence", at, change.*
        FROM (
          SELECT *, ${sumBefore('cardinality(sequences)', 1)} AS changes_before,
                 ${sumBefore('text', 0)} AS text_before
          FROM (
            SELECT commits.position, commits.at AS "committedAt", commits.sequence AS "lastSequence",
                   ${AFTER} AS after, rows.*
            FROM plant_commits AS commits CROSS JOIN LATERAL (
              SELECT sequence, at, sequences, types, ids, names, tags, fields, text FROM plant_changes
              WHERE tx = commits.tx AND sequence > ${AFTER}
              ORDER BY sequence LIMIT $4
            ) AS rows
            WHERE commits.position >= $1 ORDER BY commits.position, rows.sequence LIMIT $4
          ) AS following
        ) AS counted
        CROSS JOIN unnest(sequences, types, ids, names, tags, fields) AS change (sequence, type, ${PLANT_COLUMNS})
        WHERE (changes_before IS NULL OR changes_before < $4 AND text_before < $5) AND change.sequence > after
        ORDER BY position, change.sequence LIMIT $4
      ) AS next
    ) AS measured
    WHERE before IS NULL OR before < $5
  ) AS page ON true
  WHERE ${CAN_READ}
  ORDER BY page.position, page.sequence`

/** The changes after a position, with the position of the last one. */
export interface PageRead {
  readonly changes: Change[]
  readonly last: CommitCursor
}

/** Reads the changes after a position. Counts the text of the first row even if the page begins within it. */
export async function readPage(
  run: Run,
  after: CommitCursor,
  limit: number,
): Promise<PageRead | 'expired'> {
  const { position, sequence, at } = after
  const rows = await run<ChangePageRow>(PAGE, [
    position,
    sequence,
    at,
    Math.min(limit, CHANGES_MAX),
    PAGE_TEXT_MAX,
  ])
  const { feedId, isKept } = one(rows)
  if (feedId.compare(after.feedId) !== 0 || !isKept) return 'expired'
  const changes: Change[] = []
  let last = after
  for (const { position, committedAt, sequence, at, type, ...plant } of rows) {
    if (position === null) break
    last = { feedId, position, sequence, at: Number(committedAt) }
    const change = { ...plant, at: at.getTime(), type: known(CHANGE_TYPES[type]) }
    changes.push(toChange(encodeCursor(last), change))
  }
  return { changes, last }
}
