import type { Database } from 'better-sqlite3'
import { LISTED_TAG_MAX, type TagPage, type TagsRequest } from '../../../../service/plant-store.ts'
import type { AcquireSlot } from '../../../../service/short-read.ts'
import { decodeTagCursor, encodeTagCursor } from '../../shared/cursor.ts'
import type { Read } from './plant-slices.ts'

/** How long to search for tags at once: usually hundreds are found, but among very long ones, one takes milliseconds. */
const SLICE_MS_MAX = 0.5

/** The beginning of a tag, of LISTED_TAG_MAX characters. A shorter one is the whole tag. */
type Beginning = string

interface TagRow {
  readonly beginning: Beginning
  /** 1 for a tag that is listed. */
  readonly listed: bigint
}

/** The first character that a stored string can have: it follows a tag in the first of the tags that begin with it. */
const FIRST_CHARACTER = '\u0001'

/** A byte that is greater than any in UTF-8: it follows a beginning after all tags that begin with it. */
const LAST_BYTE = Buffer.of(0xff)

/**
 * Prepares a function that lists tags in code point order by a skip scan of the index: it searches for each tag after
 * the one before, instead of reading the entries of all plants. Tags that are not listed are skipped along with all
 * others that begin alike, so the cursor in a link can be short. It reads small slices, between which other requests
 * are served.
 */
export function prepareTagScan(
  db: Database,
  read: Read,
): (request: TagsRequest, acquireSlot?: AcquireSlot) => Promise<TagPage | 'malformed'> {
  const next = db.prepare<[string, string | Buffer], TagRow>(
    `SELECT substr(tag, 1, ${LISTED_TAG_MAX}) AS beginning, length(tag) <= ${LISTED_TAG_MAX} AS listed
     FROM plants WHERE tag >= ? || ? ORDER BY tag LIMIT 1`,
  )

  return async ({ after, limit }, acquireSlot) => {
    const start = after === undefined ? after : decodeTagCursor('code-points', after)
    if (start === undefined && after !== undefined) return 'malformed'
    await acquireSlot?.()
    const found: TagRow[] = []
    let more = true
    while (more && found.length <= limit) {
      await read(() => {
        const end = performance.now() + SLICE_MS_MAX
        do {
          const row = next.get(...endOf(found.at(-1)?.beginning ?? start))
          if (row === undefined) more = false
          else found.push(row)
        } while (more && found.length <= limit && performance.now() < end)
      })
    }
    const page = found.slice(0, limit)
    const tags = page.filter(({ listed }) => listed === 1n).map(({ beginning }) => beginning)
    const last = more ? page.at(-1)?.beginning : undefined
    return { tags, next: last === undefined ? last : encodeTagCursor('code-points', last) }
  }
}

/** The place after a tag and those that are skipped with it, in two parts. */
function endOf(beginning: Beginning | undefined): [string, string | Buffer] {
  if (beginning === undefined) return ['', '']
  const isWhole = Array.from(beginning).length < LISTED_TAG_MAX
  return [beginning, isWhole ? FIRST_CHARACTER : LAST_BYTE]
}
