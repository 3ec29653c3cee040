import {
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { PRIVATE_FOLDER_MODE } from '../../../system/file-modes.ts'
import { codeOf, messageOf } from '../../../system/user-errors.ts'
import type { BackupFolder, BackupFolderOptions, FolderBackup } from '../../shared/engine.ts'
import { StoreError } from '../../shared/store-error.ts'
import { CHECKSUM_SUFFIX, isUnused } from '../check/checksum.ts'
import { createDatabaseFile, refuseMemory } from '../file/database.ts'
import { COMPANION_SUFFIXES } from '../file/file-modes-check.ts'
import { explain } from '../file/sqlite-errors.ts'
import { backUpDatabase } from './database-backup.ts'

/** The names contain the UTC time at which the backup began, so they sort by age. */
const NAME = /^plants-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)Z\.db$/

/** The folders that `backUpDatabase` makes for unfinished copies. */
const PARTIAL_SUFFIX = /\.partial-\w{6}$/

/** See Engine.openBackups. Files with other names are never touched. */
export class SqliteBackupFolder implements BackupFolder {
  readonly #options: BackupFolderOptions
  readonly close: () => void

  constructor(options: BackupFolderOptions) {
    const { database, folder } = options
    refuseMemory(database)
    this.#options = options
    const fail = (reason: string) => new StoreError(`cannot use the folder ${folder}: ${reason}`)
    attempt(() => mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER_MODE }), fail)
    if (existsSync(database) && dirname(realpathSync(database)) === realpathSync(folder)) {
      throw fail('it contains the database itself; choose another one')
    }
    this.close = lockFolder(folder)
    // The lock shows that no process is writing to what a killed one has left.
    for (const entry of attempt(() => readdirSync(folder, { withFileTypes: true }), fail)) {
      const path = join(folder, entry.name)
      if (!entry.isDirectory() || !isPartialName(entry.name)) continue
      attempt(() => rmSync(path, { recursive: true }), fail)
    }
  }

  newest(now: Date): Date | undefined {
    const { folder } = this.#options
    const names = attempt(
      () => this.#list(),
      (reason) => new StoreError(`cannot list the backups in ${folder}: ${reason}`),
    )
    const name = names.findLast((name) => name <= backupName(now))
    return name === undefined ? undefined : backupTime(name)
  }

  async add(now: Date, signal: AbortSignal): Promise<FolderBackup> {
    const { database, lockTimeout, folder } = this.#options
    this.#assertSpace()
    const name = backupName(now)
    const file = join(folder, name)
    const onProgress = () => {}
    const options = { database, lockTimeout, file, onProgress, signal }
    const summary = await backUpDatabase(options)
    return { ...summary, file, ...this.#removeOldest(name) }
  }

  /** A disk that a copy fills up may also be the service's. */
  #assertSpace(): void {
    const { database, folder } = this.#options
    const { bavail, bsize } = attempt(
      () => statfsSync(folder),
      (reason) => new StoreError(`cannot back up to ${folder}: ${reason}`),
    )
    const needed = statSync(database, { throwIfNoEntry: false })?.size ?? 0
    if (bavail * bsize >= needed) return
    const [free, size] = [bavail * bsize, needed].map((bytes) => bytes.toLocaleString('en'))
    throw new StoreError(`cannot back up to ${folder}: ${size} bytes are needed, ${free} are free`)
  }

  /** @param published the name of the newest backup, which always stays */
  #removeOldest(published: string): Pick<FolderBackup, 'removed' | 'problem'> {
    const { folder, keep } = this.#options
    const removed: string[] = []
    try {
      const others = this.#list().filter((name) => name !== published)
      // A name later than the newest comes from a clock that was wrong. Such a backup, too, is older than the newest.
      const byAge = [
        ...others.filter((name) => name > published),
        ...others.filter((name) => name < published),
      ]
      for (const name of byAge.slice(0, Math.max(0, byAge.length - (keep - 1)))) {
        rmSync(join(folder, name))
        rmSync(join(folder, name + CHECKSUM_SUFFIX), { force: true })
        removed.push(name)
      }
    } catch (error) {
      return { removed, problem: `cannot remove old backups: ${messageOf(error)}` }
    }
    return { removed }
  }

  /**
   * The names of the backups, in ascending order. One that SQLite keeps files for, or that was ever used as a database,
   * is no longer a backup: it can contain plants that no other file has.
   */
  #list(): string[] {
    const { database, folder } = this.#options
    const entries = readdirSync(folder, { withFileTypes: true })
    const names = new Set(entries.map(({ name }) => name))
    return entries
      .filter((entry) => entry.isFile() && backupTime(entry.name) !== undefined)
      .map(({ name }) => name)
      .filter((name) => COMPANION_SUFFIXES.every((suffix) => !names.has(name + suffix)))
      .filter((name) => !isSameFile(join(folder, name), database) && isUnused(join(folder, name)))
      .sort()
  }
}

/** Whether two names are links to one file. */
function isSameFile(a: string, b: string): boolean {
  const [first, second] = [a, b].map((file) =>
    statSync(file, { throwIfNoEntry: false, bigint: true }),
  )
  return first?.ino === second?.ino && first?.dev === second?.dev
}

function attempt<Result>(work: () => Result, fail: (reason: string) => Error): Result {
  try {
    return work()
  } catch (error) {
    throw fail(messageOf(error))
  }
}

function backupName(time: Date): string {
  return `plants-${time.toISOString().slice(0, 19).replaceAll(':', '-')}Z.db`
}

/** The time in the name of a backup; undefined for every other name. */
function backupTime(name: string): Date | undefined {
  const time = new Date(name.replace(NAME, '$1T$2:$3:$4Z'))
  // Refuses days such as February 30, too.
  return !Number.isNaN(time.getTime()) && backupName(time) === name ? time : undefined
}

/** Whether a folder with this name contains the unfinished copy of a backup. */
function isPartialName(name: string): boolean {
  return PARTIAL_SUFFIX.test(name) && backupTime(name.replace(PARTIAL_SUFFIX, '')) !== undefined
}

/** Stays in the folder: removing it could let two processes lock different files. */
const LOCK_FILE = '.plant-store-backup.lock'

/**
 * Locks a folder for this process with a transaction of SQLite, whose locks the system releases if the process is
 * killed. Between machines it depends on the file system.
 *
 * @returns a function that releases the lock
 * @throws StoreError if another process has locked the folder, or it cannot be locked
 */
function lockFolder(folder: string): () => void {
  const file = join(folder, LOCK_FILE)
  createDatabaseFile(file)
  let db: Sqlite.Database | undefined
  try {
    db = new Sqlite(file, { timeout: 0 })
    // Without a journal next to the file: there is nothing to roll back.
    db.pragma('journal_mode = MEMORY')
    db.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    db?.close()
    const isLocked = codeOf(error) === 'SQLITE_BUSY'
    const reason = isLocked ? 'another process makes backups there' : `${file}: ${explain(error)}`
    throw new StoreError(`cannot use the folder ${folder}: ${reason}`, { cause: error })
  }
  const { close } = db
  return close.bind(db)
}
