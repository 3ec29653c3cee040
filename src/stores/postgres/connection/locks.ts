/** A row that always exists. */
const ROW = 'SELECT version FROM plant_store_schema WHERE version = 1'

/** Only one transaction at a time can have this lock. */
export const LOCK_STORE = `${ROW} FOR UPDATE`

/** Makes a transaction wait for the standbys, as a change does. */
export const AWAIT_STANDBYS = `${ROW} FOR KEY SHARE`
