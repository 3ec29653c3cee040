import { realpathSync, statSync } from 'node:fs'
import Sqlite, { type Database } from 'better-sqlite3'
import { SELECTOR_BYTES } from '../../../service/token-store.ts'
import type { CheckResult, Verdict } from '../check-result.ts'
import { StoreError } from '../store-error.ts'
import { brokenStrings } from './broken-strings.ts'
import { type DatabaseOptions, explain, IN_MEMORY } from './database.ts'
import { openExisting } from './existing.ts'
import { fileAccess } from './file-access.ts'
import { migrate, refuseForeign, SCHEMA_VERSION, versionOf } from './schema.ts'

type Verify = (db: Database) => Iterable<Verdict>

/** Quick ones first. If the first one finds a fault, the others would have nothing to say. */
const VERIFICATIONS: Record<string, Verify> = {
  kind,
  schema,
  file,
  journal,
  access,
  tokens,
  integrity,
  plants,
}

/** Of ids that are said; more would not help the person who reads them. */
const MANY = 10

/** These are in the way of a check; other errors of SQLite are what it was for. */
const HINDRANCE = /^SQLITE_(BUSY|CANTOPEN|PERM|READONLY|NOMEM)/

/**
 * Verifies a database of ours as it is at one moment, without changing it; a service may go on writing
 * to it. Each finding comes as soon as it is made: with millions of plants some take seconds.
 *
 * Whether commits wait for the disk is not in the file; every start of a service sees to it.
 *
 * @throws StoreError if it cannot be checked
 */
export function* checkDatabase(options: DatabaseOptions): Generator<CheckResult> {
  let db: Database | undefined
  try {
    db = openExisting(options)
    db.exec('BEGIN')
    for (const [what, verify] of Object.entries(VERIFICATIONS)) {
      let sound = true
      for (const verdict of verdicts(verify, db)) {
        sound &&= verdict.sound
        yield { what, ...verdict }
      }
      if (verify === kind && !sound) return
    }
  } catch (error) {
    if (!(error instanceof Sqlite.SqliteError)) throw error
    const reason = `cannot check the database ${options.file}: ${explain(error)}`
    throw new StoreError(reason, { cause: error })
  } finally {
    db?.close()
  }
}

function* verdicts(verify: Verify, db: Database): Generator<Verdict> {
  try {
    yield* verify(db)
  } catch (error) {
    if (!(error instanceof Sqlite.SqliteError) || HINDRANCE.test(error.code)) throw error
    yield fault(explain(error))
  }
}

function sound(says: string): Verdict {
  return { sound: true, says }
}

function fault(says: string): Verdict {
  return { sound: false, says }
}

function* kind(db: Database): Generator<Verdict> {
  const reason = kindFault(db)
  yield reason === undefined ? sound('a database of plant-store') : fault(reason)
}

/** Why a database is none of ours, or of a version that we do not know; if there is no reason it is one. */
export function kindFault(db: Database): string | undefined {
  return refuseForeign(db) ?? (versionOf(db) === 0 ? 'it is empty' : undefined)
}

/** Compares it with one that is made for that, as SQLite does not miss an index or a NOT NULL. */
function* schema(db: Database): Generator<Verdict> {
  const version = versionOf(db)
  const made = new Sqlite(IN_MEMORY)
  migrate(made, version)
  const [wanted, found] = [objectsOf(made), objectsOf(db)]
  made.close()
  const missing = [...wanted].filter(([name, sql]) => found.get(name) !== sql)
  const added = [...found].filter(([name]) => !wanted.has(name))
  for (const [name] of missing) yield fault(`${name} is not there, or not as it has to be`)
  for (const [name] of added) yield fault(`${name} is there, which this program did not make`)
  if (missing.length + added.length > 0) return
  const old = version < SCHEMA_VERSION
  const upgrade = old ? `; the next start of the service makes it ${SCHEMA_VERSION}` : ''
  yield sound(`version ${version}${upgrade}`)
}

function objectsOf(db: Database): Map<string, string | null> {
  const rows = db
    .prepare(`SELECT type || ' ' || name, sql FROM sqlite_schema WHERE name NOT GLOB 'sqlite_*'`)
    .raw()
    .all()
  return new Map(rows as [string, string | null][])
}

function* file(db: Database): Generator<Verdict> {
  const size = db.pragma('page_size', { simple: true })
  const encoding = db.pragma('encoding', { simple: true })
  const text = `${bytesOf(db.name)}, in pages of ${size}, text in ${encoding}`
  yield encoding === 'UTF-8' ? sound(text) : fault(text)
}

function* journal(db: Database): Generator<Verdict> {
  const mode = db.pragma('journal_mode', { simple: true })
  // Such is a backup, until a service is started on it.
  if (mode !== 'wal') return yield sound(`${mode}; the next start of the service makes it wal`)
  // The WAL is next to the target of a symbolic link.
  yield sound(`wal, ${bytesOf(`${realpathSync(db.name)}-wal`)}`)
}

function access(db: Database): Iterable<Verdict> {
  return fileAccess(db.name)
}

function bytesOf(path: string): string {
  return `${statSync(path).size.toLocaleString('en')} bytes`
}

function* tokens(db: Database): Generator<Verdict> {
  const broken = db
    .prepare(
      `SELECT name FROM tokens WHERE length(digest) <> 32 OR substr(digest, 1, ?) <> selector
       ORDER BY name`,
    )
    .pluck()
    .all(SELECTOR_BYTES)
  if (broken.length > 0) yield fault(`these are not whole, make them anew: ${broken.join(', ')}`)
  else yield sound(countOf(db, 'tokens'))
}

function countOf(db: Database, table: string): string {
  const count = db.prepare(`SELECT count(*) FROM ${table}`).pluck().get() as number
  return count.toLocaleString('en')
}

function* integrity(db: Database): Generator<Verdict> {
  let faults = 0
  for (const line of integrityFaults(db)) {
    faults++
    yield fault(line)
  }
  if (faults === 0) yield sound('pages, rows, types and indexes')
}

/**
 * What SQLite finds wrong: of its pages, the order of rows, indexes that do not equal their tables, and
 * values that the types of their columns forbid. About a hundred lines at most; none if all is well.
 *
 * @throws SqliteError behind the last of them if it could not go on
 */
export function* integrityFaults(db: Database): Generator<string> {
  for (const row of db.prepare('PRAGMA integrity_check').pluck().iterate()) {
    const lines = String(row).split('\n')
    yield* lines.filter((line) => line !== 'ok' && !line.startsWith('*** in database '))
  }
}

function* plants(db: Database): Generator<Verdict> {
  const broken = [...brokenStrings(db).take(MANY)]
  if (broken.length > 0) {
    const ids = broken.join(', ') + (broken.length === MANY ? ' and perhaps others' : '')
    return yield fault(`text that is not UTF-8, or with U+0000, in ${ids}`)
  }
  yield sound(countOf(db, 'plants'))
}
