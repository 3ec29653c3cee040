/**
 * A read that finds more than this is long: it can take milliseconds, rather than a fraction of one. In UTF-16 units
 * (SQLite) or bytes (PostgreSQL) of names, tags and own fields.
 */
export const SHORT_READ = { rows: 100, text: 2 ** 16 }

/**
 * Waits until a long read may begin. A store awaits it at most once per read, before it reads more than SHORT_READ, and
 * then starts the read again, so that the result still comes from one moment.
 *
 * @throws StoreUnavailable, which ends the read
 */
export type AcquireSlot = () => Promise<void>
