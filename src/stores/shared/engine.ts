import { dirname, join } from 'node:path'
import type { CheckResult } from './check-result.ts'
import type { PlantReader, Store, ThreadStore } from './store.ts'

/**
 * A kind of database. Its folder holds its code; `engines.ts` lists it. Methods import what they need when they are
 * called, so that a process loads no driver that it does not use.
 */
export interface Engine {
  /** Whether the value of `--database` names a database of this engine. */
  matches(database: string): boolean

  /**
   * Describes where the data is, without opening the database.
   *
   * @throws StoreError if the value of `--database` is malformed
   */
  locate(database: string): Location

  /** @throws StoreError with a one-line reason if the database cannot be used */
  open(options: StoreOptions): Promise<Store>

  /**
   * Opens a database to read its plants. Changes nothing: it neither creates nor upgrades a database.
   *
   * @throws MissingDatabase if there is no database, or it is empty; StoreError with a one-line reason if it cannot be
   *   read, or its schema is not that of this version
   */
  openReader(options: DatabaseOptions): Promise<PlantReader>

  /**
   * Uses a store that another thread has opened. Undefined if `Store.share` never returns links.
   *
   * @param link the `data` of its StoreLink
   * @throws StoreError with a one-line reason if the database cannot be used
   */
  join?(options: StoreOptions, link: unknown): Promise<ThreadStore>

  /**
   * Verifies a database without changing it, and yields each result as soon as it is known.
   *
   * @throws StoreError if the check cannot run
   */
  check(options: DatabaseOptions): AsyncIterable<CheckResult>

  /**
   * Replaces the stored number of standbys that must have a change before it is acknowledged. Running services follow.
   *
   * @throws StoreError if the engine has no standbys, or the database cannot be used
   */
  requireStandbys(options: DatabaseOptions, required: number): Promise<void>

  /**
   * Copies a database to a new file, while other processes may write to it, and verifies the copy. Writes its checksum
   * to `file`.sha256.
   *
   * @throws StoreError if this engine makes no backups, the database cannot be read, or the file exists or cannot be
   *   written
   */
  backUp(options: BackupOptions): Promise<BackupSummary>

  /**
   * Opens a folder in which this process keeps several backups of a database. Creates a missing folder, readable only
   * by its owner, and removes unfinished backups of killed processes.
   *
   * @throws StoreError if this engine makes no backups, another process makes backups in the folder, the folder contains
   *   the database, or it cannot be used
   */
  openBackups(options: BackupFolderOptions): Promise<BackupFolder>

  /**
   * Makes a new database of a backup, which stays as it is, and verifies it. Creates a missing folder, readable only by
   * its owner.
   *
   * @throws StoreError if this engine makes no backups, the backup is damaged or was used as a database since, or the
   *   database exists or cannot be written
   */
  restore(options: RestoreOptions): Promise<RestoreSummary>
}

/** The value of `--database` for a database in memory. */
export const IN_MEMORY = ':memory:'

/** A file, the memory of this process, or a server. */
export type Location =
  | {
      /** An absolute path. */
      readonly file: string
      /** The engine appends these to the target of that path to name its other files. */
      readonly suffixes: readonly string[]
    }
  | { readonly memory: true }
  /** A URL without its secrets. */
  | { readonly server: string; readonly hasPassword: boolean }

export interface DatabaseOptions {
  /** The value of `--database`. */
  readonly database: string
  /** Milliseconds to wait for a lock that another process holds, or for a server. */
  readonly lockTimeout: number
}

export interface StoreOptions extends DatabaseOptions {
  /** Fail instead of creating a missing database or, on a server, missing tables. */
  readonly mustExist?: boolean
  /** Make changes on the calling thread, which blocks: for short-lived processes. */
  readonly sameThread?: boolean
  /** Read the plants and changes of an incomplete mirror too: for processes that manage the database. */
  readonly readsIncomplete?: boolean
  /** Which changes the service keeps. Without it, nothing is deleted. */
  readonly retention?: Retention
  /** Receives each problem in one line, for the operator: once, or repeatedly while it lasts. */
  readonly onProblem?: OnProblem
  /** Measure commits, for `Store.metrics`. */
  readonly isMeasured?: boolean
  /**
   * How many standbys must have a change before it is acknowledged. Stored in the database, where all processes must
   * agree on it. By default, the stored number applies.
   */
  readonly requireStandbys?: number | undefined
}

export type OnProblem = (problem: string) => void

/** The problem if a database was restored from a dump, so that its change feed cannot be continued. */
export const NEW_FEED =
  'the change feed belongs to another database, so a new one begins: earlier cursors have expired'

/** Which changes to keep. */
export interface Retention {
  /** In milliseconds. */
  readonly age: number
  /** Approximate size of the feed. The oldest changes beyond it are deleted. */
  readonly bytes: number
}

export interface BackupOptions extends DatabaseOptions {
  /** Path of the backup. */
  readonly file: string
  readonly onProgress: OnProgress
  /** Called right before the backup gets its name. From then on, `signal` has no effect. */
  readonly onPublish?: () => void
  /** Removes the unfinished backup before `abort()` returns, and then rejects the promise. */
  readonly signal: AbortSignal
}

/** Receives the number of pages (of a restore: bytes) copied so far, and their total. */
export type OnProgress = (copied: number, total: number) => void

/** The size of a backup, and its SHA-256 in hexadecimal. */
export interface BackupSummary {
  readonly plants: number
  readonly bytes: number
  readonly sha256: string
}

export interface RestoreOptions extends Omit<BackupOptions, 'file' | 'lockTimeout'> {
  /** Path of the backup. */
  readonly backup: string
}

export interface RestoreSummary extends BackupSummary {
  /** Whether the backup has a checksum. */
  readonly isCompared: boolean
}

export interface BackupFolderOptions extends DatabaseOptions {
  readonly folder: string
  /** The number of backups to keep, at least 1. */
  readonly keep: number
}

/** Backups of a database, named by the time at which they began. */
export interface BackupFolder {
  /** When the newest backup began; undefined if there is none. Ignores times after `now`, which come from a wrong clock. */
  newest(now: Date): Date | undefined

  /**
   * Adds a backup that begins now, and then removes the oldest ones beyond `keep`.
   *
   * @param signal as in BackupOptions
   * @throws StoreError as Engine.backUp does
   */
  add(now: Date, signal: AbortSignal): Promise<FolderBackup>

  /** Lets other processes use the folder. */
  close(): void
}

export interface FolderBackup extends BackupSummary {
  readonly file: string
  /** Names of the old backups that were removed. */
  readonly removed: readonly string[]
  /** Why an old backup could not be removed. */
  readonly problem?: string
}

/**
 * Where the service writes the first token of a database file: `shared`, or `own` if another database has taken that.
 */
export function locateTokenFiles(database: string): {
  readonly shared: string
  readonly own: string
} {
  return { shared: join(dirname(database), 'access-token'), own: `${database}.access-token` }
}
