import type { Database } from 'better-sqlite3'
import {
  LISTED_TAG_MAX,
  PAGE_TEXT_MAX,
  type TagPage,
  type TagsRequest,
} from '../../../../service/store/plant-store.ts'
import { decodeTagCursor, encodeTagCursor } from '../../shared/cursor.ts'

/** The beginning of a tag, of LISTED_TAG_MAX characters. A shorter one is the whole tag. */
type Beginning = string

interface TagRow {
  readonly beginning: Beginning
  /** 1 for a tag that is listed. */
  readonly listed: bigint
  readonly bytes: bigint
}

/** The first character that a stored string can have: it follows a tag in the first of the tags that begin with it. */
const FIRST_CHARACTER = '\u0001'

/** A byte that is greater than any in UTF-8: it follows a beginning after all tags that begin with it. */
const LAST_BYTE = Buffer.of(0xff)

/**
 * Prepares PlantStore.listTags, in code point order, by a skip scan of the index: it searches for each tag after the one
 * before, instead of reading the entries of all plants. Tags that are not listed are skipped along with all others that
 * begin alike, so the cursor in a link can be short.
 */
export function prepareTagScan(db: Database): (request: TagsRequest) => TagPage | 'malformed' {
  const next = db.prepare<[string, string | Buffer], TagRow>(
    `SELECT substr(tag, 1, ${LISTED_TAG_MAX}) AS beginning, length(tag) <= ${LISTED_TAG_MAX} AS listed,
            octet_length(tag) AS bytes
     FROM plants WHERE tag >= ? || ? ORDER BY tag LIMIT 1`,
  )

  return ({ after, limit }) => {
    const start = after === undefined ? after : decodeTagCursor('code-points', after)
    if (start === undefined && after !== undefined) return 'malformed'
    const tags: string[] = []
    let last = start
    let examined = 0
    let text = 0
    while (examined < limit && text < PAGE_TEXT_MAX) {
      const row = next.get(...endOf(last))
      if (row === undefined) return { tags, next: undefined }
      last = row.beginning
      if (row.listed === 1n) tags.push(last)
      examined++
      text += Number(row.bytes)
    }
    if (last === undefined || next.get(...endOf(last)) === undefined)
      return { tags, next: undefined }
    return { tags, next: encodeTagCursor('code-points', last) }
  }
}

/** The place after a tag and those that are skipped with it, in two parts. */
function endOf(beginning: Beginning | undefined): [string, string | Buffer] {
  if (beginning === undefined) return ['', '']
  const isWhole = Array.from(beginning).length < LISTED_TAG_MAX
  return [beginning, isWhole ? FIRST_CHARACTER : LAST_BYTE]
}
