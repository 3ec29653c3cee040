import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import type { Test } from 'tap'
import { Command, type CommandOptions } from '../processes/command.ts'
import { runHere } from '../processes/command-here.ts'

/** Runs `plant-store import …` on a new database. */
export function importsOf(t: Test) {
  const folder = t.testdir()
  const database = join(folder, 'plants.db')
  const file = (name: string, content: string | Buffer) => {
    writeFileSync(join(folder, name), content)
    return join(folder, name)
  }
  const load = (args: readonly string[]) =>
    runHere(['import', ...args, '--create', '--database', database])
  /** Starts an import from standard input. */
  const feed = (options?: CommandOptions, format = 'ndjson', more: readonly string[] = []) => {
    const args = ['import', '-', '--format', format, ...more, '--create', '--database', database]
    return new Command(t, args, { ...options, stdio: ['pipe', 'pipe', 'pipe'] })
  }
  const stored = () => {
    const db = new Sqlite(database)
    const plants = db.prepare('SELECT id, name, tag FROM plants ORDER BY id').all()
    const isIntact = db.pragma('integrity_check', { simple: true }) === 'ok'
    db.close()
    return isIntact ? plants : 'damaged'
  }
  const summary = (counts: { [what: string]: number }, note = '') => {
    const all = { created: 0, replayed: 0, replaced: 0, kept: 0, refused: 0, ...counts }
    const lines = Object.entries(all).map(([what, count]) => {
      const isExplained = what === 'replayed' && count > 0
      return `${what} ${count}${isExplained ? ' (already stored with the same content)' : ''}\n`
    })
    return `${lines.join('')}${note}database ${database}\n`
  }
  return { folder, database, file, load, feed, stored, summary }
}
