/**
 * Rows fetched at a time: those of a page by default, and one that tells whether more follow. Rows of which a text is
 * longer than ROW_TEXT_MAX, in bytes, are fetched one by one.
 */
export const ROWS_MAX = 101
export const ROW_TEXT_MAX = 2 ** 12

/** The changes on a page. Their cursors make them more expensive than plants. */
export const CHANGES_MAX = 500

/** How many plants get keys in a transaction of their own, and how much text they have, not counting the last one. */
export const KEYS_MAX = { plants: 1000, text: 2 ** 19 }

/** Plants per batch of an export. Larger batches are not faster. */
export const EXPORT_BATCH_SIZE = 1000
