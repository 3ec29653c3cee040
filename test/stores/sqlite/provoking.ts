import Sqlite from 'better-sqlite3'

/** Returns a function that runs statements on a database file. */
export function sql(statements: string): (file: string) => void {
  return (file) => new Sqlite(file).exec(statements).close()
}

/** The error that a function throws, if any. */
export function thrownBy(work: () => unknown): Error | undefined {
  try {
    work()
  } catch (error) {
    return error as Error
  }
}
