import Sqlite from 'better-sqlite3'

/** Something that runs statements on a database file, behind the back of the store. */
export function sql(statements: string): (file: string) => void {
  return (file) => new Sqlite(file).exec(statements).close()
}

/** What the work throws, if it does. */
export function thrownBy(work: () => unknown): Error | undefined {
  try {
    work()
  } catch (error) {
    return error as Error
  }
}
