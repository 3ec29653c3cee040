/**
 * How much text plants that are read together may have, beside that of the last one; in UTF-16 units or in
 * bytes, as the engine counts.
 */
export const MAX_TEXT = 2 ** 20

/** Plants of an export that are read together; more of them gain nothing. */
export const EXPORT_BATCH_SIZE = 1000
