/**
 * The limit on the text of a page or batch, not counting its last plant, in UTF-16 units (SQLite) or bytes
 * (PostgreSQL).
 */
export const BATCH_TEXT_MAX = 2 ** 20

/** Rows fetched at a time: one by one takes twice as long. Those with more than ROW_TEXT_MAX are fetched one by one. */
export const ROWS_MAX = 34
export const ROW_TEXT_MAX = 2 ** 12

/** Plants per batch of an export. Larger batches are not faster. */
export const EXPORT_BATCH_SIZE = 1000
