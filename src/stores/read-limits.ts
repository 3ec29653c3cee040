/**
 * The text of plants that are read together, without that of the last one. Engines count it in UTF-16 units or in
 * bytes.
 */
export const BATCH_TEXT_MAX = 2 ** 20

/** Plants per batch of an export. Larger batches are not faster. */
export const EXPORT_BATCH_SIZE = 1000
