import { SHORT_READ } from '../../../service/short-read.ts'

/**
 * The limit on the text of a page or batch, not counting its last plant, in UTF-16 units (SQLite) or bytes
 * (PostgreSQL).
 */
export const BATCH_TEXT_MAX = 2 ** 20

/**
 * Rows fetched at a time: those of a short read, and one that tells whether more follow. Rows of which a text is longer
 * than ROW_TEXT_MAX, in bytes, are fetched one by one.
 */
export const ROWS_MAX = SHORT_READ.rows + 1
export const ROW_TEXT_MAX = 2 ** 12

/** Plants per batch of an export. Larger batches are not faster. */
export const EXPORT_BATCH_SIZE = 1000
