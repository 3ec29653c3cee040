/**
 * The limit on the text of a page or batch, not counting its last plant, in UTF-16 units (SQLite) or bytes
 * (PostgreSQL).
 */
export const BATCH_TEXT_MAX = 2 ** 20

/** Rows fetched at a time: one by one takes twice as long, and more large rows would take too much memory. */
export const ROWS_MAX = 34

/** Plants per batch of an export. Larger batches are not faster. */
export const EXPORT_BATCH_SIZE = 1000
