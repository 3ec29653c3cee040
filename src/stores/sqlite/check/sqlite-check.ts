import { realpathSync, statSync } from 'node:fs'
import Sqlite, { type Database } from 'better-sqlite3'
import { known } from '../../../../core/known.ts'
import type { RecordKind } from '../../../../service/store/record-store.ts'
import { readIndex } from '../../../../service/store/sort-index.ts'
import {
  type CheckResult,
  countFinding,
  type Finding,
  fault,
  IDS_MAX,
  indexFinding,
  listIds,
  OWN_DATABASE,
  ok,
  schemaFinding,
  tokensFinding,
  warning,
} from '../../shared/check-result.ts'
import { RECORD_COLUMNS, type RecordRow, toRecord } from '../../shared/rows.ts'
import { StoreError } from '../../shared/store-error.ts'
import { START } from '../feed/change-triggers.ts'
import { findIncompatibility } from '../file/compatibility.ts'
import { openExisting, type SqliteOptions } from '../file/database.ts'
import { checkFileModes } from '../file/file-modes-check.ts'
import { compareSchema } from '../file/schema-comparison.ts'
import { explain } from '../file/sqlite-errors.ts'
import {
  RECORDS_VERSION,
  readSchemaVersion,
  SCHEMA_VERSION,
  SORT_KEYS_VERSION,
} from '../file/sqlite-schema.ts'
import { checkChecksum } from './checksum.ts'
import { findWrongKeys } from './sort-key-check.ts'

type Check = (db: Database) => Iterable<Finding>

/** The checks by subject, quick ones first. */
const CHECKS: Record<string, Check> = {
  kind,
  schema,
  file,
  journal,
  access: (db) => checkFileModes(db.name),
  tokens,
  integrity,
  plants: (db) => [countFinding(countRows(db, 'plants'))],
  changes,
  index,
}

/** If one of these finds a fault, the checks that follow are skipped, because they use the schema. */
const REQUIRED: readonly Check[] = [kind, schema]

/** Errors that prevent a check. Any other SqliteError is a finding. */
const PREVENTING = /^SQLITE_(BUSY|CANTOPEN|PERM|READONLY|NOMEM)/

/**
 * Verifies a database as it is at one moment, without changing it; a service may be writing to it. Yields each result
 * at once, because some checks take seconds with millions of plants.
 *
 * Durability is not checked: it is not a property of the file, and every connection of the service verifies it.
 *
 * @throws StoreError if the check cannot run
 */
export function* checkDatabase(options: SqliteOptions): Generator<CheckResult> {
  let db: Database | undefined
  try {
    db = openExisting(options)
    db.exec('BEGIN')
    for (const [subject, check] of Object.entries(CHECKS)) {
      let isFaulty = false
      for (const finding of runCheck(check, db)) {
        isFaulty ||= finding.status === 'fault'
        yield { subject, ...finding }
      }
      if (REQUIRED.includes(check) && isFaulty) return
    }
  } catch (error) {
    if (!(error instanceof Sqlite.SqliteError)) throw error
    const message = `cannot check the database ${options.file}: ${explain(error)}`
    throw new StoreError(message, { cause: error })
  } finally {
    db?.close()
  }
  for (const finding of checkChecksum(options.file)) yield { subject: 'checksum', ...finding }
}

function* runCheck(check: Check, db: Database): Generator<Finding> {
  try {
    yield* check(db)
  } catch (error) {
    if (!(error instanceof Sqlite.SqliteError) || PREVENTING.test(error.code)) throw error
    yield fault(explain(error))
  }
}

function kind(db: Database): Finding[] {
  const reason = findKindFault(db)
  return [reason === undefined ? OWN_DATABASE : fault(reason)]
}

function findKindFault(db: Database): string | undefined {
  return findIncompatibility(db) ?? (readSchemaVersion(db) === 0 ? 'it is empty' : undefined)
}

/** Why a file is not a database of this program, of a version it supports, with its schema; undefined if it is. */
export function findFault(db: Database): string | undefined {
  return findKindFault(db) ?? compareSchema(db).differences[0]
}

function schema(db: Database): Finding[] {
  const { differences, foreign } = compareSchema(db)
  if (differences.length > 0) return differences.map(fault)
  const finding = schemaFinding(readSchemaVersion(db), SCHEMA_VERSION)
  if (foreign.length === 0) return [finding]
  const names = foreign.map((name) => JSON.stringify(name)).join(', ')
  return [warning(`${finding.message}; not ours, and not verified: ${names}`)]
}

function file(db: Database): Finding[] {
  const size = db.pragma('page_size', { simple: true })
  const encoding = db.pragma('encoding', { simple: true })
  const message = `${describeSize(db.name)}, in pages of ${size}, text in ${encoding}`
  return [encoding === 'UTF-8' ? ok(message) : fault(message)]
}

function journal(db: Database): Finding[] {
  const mode = db.pragma('journal_mode', { simple: true })
  // A backup is not in WAL mode until a service uses it.
  if (mode !== 'wal') return [ok(`${mode}; the service switches to wal on its next start`)]
  // The WAL is next to the target of a symbolic link.
  return [ok(`wal, ${describeSize(`${realpathSync(db.name)}-wal`)}`)]
}

function describeSize(path: string): string {
  return `${statSync(path).size.toLocaleString('en')} bytes`
}

function tokens(db: Database): Finding[] {
  // An older schema has no records yet.
  if (readSchemaVersion(db) < RECORDS_VERSION) return [countFinding(countRows(db, 'tokens'))]
  return [tokensFinding(readRecords(db, 'token').map(toRecord))]
}

function readRecords(db: Database, kind: RecordKind): RecordRow[] {
  return db
    .prepare<[RecordKind], RecordRow>(
      `SELECT ${RECORD_COLUMNS} FROM plant_store_records WHERE kind = ? ORDER BY key`,
    )
    .all(kind)
}

function* integrity(db: Database): Generator<Finding> {
  let count = 0
  for (const message of findIntegrityFaults(db)) {
    count++
    yield fault(message)
  }
  if (count === 0) yield ok('pages, rows, types and indexes')
}

/**
 * The faults that SQLite finds in pages, the order of rows, indexes that differ from their tables, and values that do
 * not fit the types of their columns: about a hundred at most. If the database has foreign tables, only ours are
 * verified.
 *
 * @throws SqliteError after the last of them if SQLite cannot continue
 */
export function* findIntegrityFaults(db: Database): Generator<string> {
  const { tables, foreign } = compareSchema(db)
  // Indexes and constraints of foreign tables can have expressions that take any time.
  const scopes =
    foreign.length === 0 ? [''] : ['sqlite_schema', ...tables].map((table) => `(${table})`)
  for (const scope of scopes) {
    for (const row of db.prepare(`PRAGMA integrity_check${scope}`).pluck().iterate()) {
      const lines = String(row).split('\n')
      yield* lines.filter((line) => line !== 'ok' && !line.startsWith('*** in database '))
    }
  }
}

/** Compares the last change to each plant in the feed with the plant. */
function changes(db: Database): Finding[] {
  // An older schema has fewer columns.
  const columns = db
    .prepare<[], string>(`SELECT name FROM pragma_table_info('plants') WHERE name <> 'id'`)
    .pluck()
    .all()
  const differs = (column: string) => `plants.${column} IS NOT changes.${column}`
  const wrong = db
    .prepare<[], bigint>(
      `SELECT last.id FROM
         (SELECT id, max(position) AS position FROM changes WHERE type <> ${START} GROUP BY id) AS last
         JOIN changes USING (position) LEFT JOIN plants ON plants.id = last.id
       WHERE ${columns.map(differs).join(' OR ')} LIMIT ${IDS_MAX}`,
    )
    .pluck()
    .safeIntegers()
    .all()
  if (wrong.length > 0) {
    return [fault(`the last changes in the feed differ from the plants ${listIds(wrong)}`)]
  }
  return [ok(`${countRows(db, `changes WHERE type <> ${START}`).toLocaleString('en')} kept`)]
}

function* index(db: Database): Generator<Finding> {
  if (readSchemaVersion(db) < SORT_KEYS_VERSION) return
  for (const each of readRecords(db, 'sort-index').map(readIndex)) {
    const wrong = each.isComplete ? findWrongKeys(db, each).take(IDS_MAX) : []
    yield indexFinding(each, [...wrong])
  }
}

/** @param table can be followed by a condition */
export function countRows(db: Database, table: string): number {
  return known(db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get())
}
