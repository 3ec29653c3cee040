import Sqlite, { type Database } from 'better-sqlite3'

/** The statements that are prepared while `work` runs, on any connection of this thread. */
export async function statementsDuring(work: () => Promise<unknown>): Promise<Set<string>> {
  const statements = new Set<string>()
  const { prepare } = Sqlite.prototype
  Sqlite.prototype.prepare = function (this: Database, sql: string) {
    statements.add(sql)
    return prepare.call(this, sql)
  } as typeof prepare
  try {
    await work()
  } finally {
    Sqlite.prototype.prepare = prepare
  }
  return statements
}
