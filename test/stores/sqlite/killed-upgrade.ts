/** Upgrades the database that the first argument names, and is killed before the commit. */
import Sqlite from 'better-sqlite3'
import {
  MIGRATIONS,
  migrate,
  SCHEMA_VERSION,
} from '../../../src/stores/sqlite/file/sqlite-schema.ts'

const db = new Sqlite(process.argv[2])
// Pages that no longer fit into the cache are written before the commit.
db.pragma('cache_size = 1')
migrate(db, SCHEMA_VERSION + 1, [...MIGRATIONS, () => process.kill(process.pid, 'SIGKILL')])
