import type { Database } from 'better-sqlite3'
import { type Finding, fault, ok } from '../../check-result.ts'
import { isLogOn, LOG_VERSION, START } from '../feed/change-log.ts'
import { readSchemaVersion } from '../file/sqlite-schema.ts'

/** The maximum number of ids listed in a message. */
const IDS_MAX = 10

/** Verifies that the last change to each plant in the log matches the plant. */
export function* checkChanges(db: Database): Generator<Finding> {
  if (readSchemaVersion(db) < LOG_VERSION) return
  if (!isLogOn(db)) return yield ok('off')
  const wrong = db
    .prepare<[], bigint>(
      `SELECT last.id FROM
         (SELECT id, max(position) AS position FROM changes WHERE type <> ${START} GROUP BY id) AS last
         JOIN changes USING (position) LEFT JOIN plants ON plants.id = last.id
       WHERE plants.name IS NOT changes.name OR plants.tag IS NOT changes.tag LIMIT ${IDS_MAX}`,
    )
    .pluck()
    .safeIntegers()
    .all()
  if (wrong.length > 0) {
    const ids = wrong.join(', ') + (wrong.length === IDS_MAX ? ' and possibly others' : '')
    return yield fault(`the last changes in the log differ from the plants ${ids}`)
  }
  const count = db
    .prepare<[], number>(`SELECT count(*) FROM changes WHERE type <> ${START}`)
    .pluck()
    .get()
  yield ok(`${count?.toLocaleString('en')} kept`)
}
