import {
  LISTED_TAG_MAX,
  type TagPage,
  type TagsRequest,
} from '../../../../service/store/plant-store.ts'
import { decodeTagCursor, encodeTagCursor } from '../../shared/cursor.ts'
import { CAN_READ } from '../connection/permissions.ts'
import type { Run } from '../connection/pooled-client.ts'

/** The first entry of the index after a hash. The length in bytes is stored, so very long tags are not read for it. */
const nextAfter = (hash: string) => `
  SELECT md5(tag) AS hash,
    CASE WHEN octet_length(tag) <= ${4 * LISTED_TAG_MAX} AND char_length(tag) <= ${LISTED_TAG_MAX} THEN tag END AS listed
  FROM plants WHERE tag IS NOT NULL AND md5(tag) > ${hash} ORDER BY md5(tag), id LIMIT 1`

/**
 * Lists tags by a skip scan of their index: it searches for each hash after the one before, instead of reading the
 * entries of all plants. So the order is that of the hashes. Of tags with the same hash, which someone would have to
 * construct, only one is listed.
 */
const NEXT_TAGS = `
  WITH RECURSIVE found AS (
    SELECT first.*, 1 AS number FROM (${nextAfter('$1')}) AS first
    UNION ALL
    SELECT next.*, number + 1 FROM found CROSS JOIN LATERAL (${nextAfter('found.hash')}) AS next
    WHERE number < $2
  )
  SELECT hash, listed FROM found WHERE ${CAN_READ} ORDER BY number`

interface TagRow {
  readonly hash: string
  /** Null if the tag is too long to be listed. */
  readonly listed: string | null
}

/** See PlantStore.listTags. */
export async function listTags(
  run: Run,
  { after, limit }: TagsRequest,
): Promise<TagPage | 'malformed'> {
  const from = after === undefined ? '' : decodeTagCursor('md5', after)
  if (from === undefined) return 'malformed'
  const found = await run<TagRow>(NEXT_TAGS, [from, limit + 1])
  const page = found.slice(0, limit)
  const last = found.length > limit ? page.at(-1)?.hash : undefined
  return {
    tags: page.flatMap(({ listed }) => listed ?? []),
    next: last && encodeTagCursor('md5', last),
  }
}
