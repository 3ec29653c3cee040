import { setTimeout } from 'node:timers/promises'
import type { Database } from 'better-sqlite3'
import type { CommitSignal } from '../writer/commit-signal.ts'

const INTERVAL_MS = 40

/**
 * Reports commits of other connections while a thread waits for them. Ends when the connection is closed. Does not keep
 * the process running.
 *
 * @param db the connection whose commits are reported by others
 */
export async function watchCommits(db: Database, signal: CommitSignal): Promise<void> {
  const version = db.prepare<[], number>('PRAGMA data_version').pluck()
  let seen = readVersion(() => version.get())
  while (db.open) {
    await setTimeout(INTERVAL_MS, undefined, { ref: false })
    await signal.awaited()
    const current = readVersion(() => version.get())
    if (current !== seen) signal.add()
    seen = current
  }
}

/** Returns undefined if the file cannot be read now. Followers are woken then, and report the error. */
function readVersion(read: () => number | undefined): number | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
