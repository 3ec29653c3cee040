/** Runs the writer's thread and sends the settings of its connection. */
import { parentPort } from 'node:worker_threads'
import Sqlite, { type Database } from 'better-sqlite3'

const connections: Database[] = []
const { transaction } = Sqlite.prototype
Sqlite.prototype.transaction = function (this: Database, work: () => void) {
  connections.push(this)
  return transaction.call(this, work)
} as typeof transaction

await import('../../../../src/stores/sqlite/writer/writer-thread.ts')

parentPort?.postMessage(
  [...new Set(connections)].map((db) => ({
    journal: db.pragma('journal_mode', { simple: true }),
    synchronous: db.pragma('synchronous', { simple: true }),
  })),
)
