/** A database cannot be opened, checked or backed up. The message gives the reason in one line, for the operator. */
export class StoreError extends Error {}

/** There is no database, or it has no tables. */
export class MissingDatabase extends StoreError {}
