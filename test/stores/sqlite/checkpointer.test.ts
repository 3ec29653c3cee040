import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import {
  Checkpointer,
  prepareCheckpoint,
  type WalState,
} from '../../../src/stores/sqlite/checkpointer.ts'
import { type DatabaseOptions, openDatabase } from '../../../src/stores/sqlite/database.ts'

/** How long the log may become here, in pages; a commit takes one or two. */
const PAGES = 50

t.test('a long log is written back while commits go on, and starts anew', async (t) => {
  const { commitUntil, committed, stored } = await start(t)
  for (let round = 0; round < 3; round++) {
    // The writer alone would have written all of it back.
    await commitUntil(({ log, checkpointed }) => log >= PAGES && checkpointed < log)
    await commitUntil(({ log }) => log < PAGES)
  }
  t.equal(stored(), committed())
})

t.test('what a snapshot needs stays in the log until the snapshot has ended', async (t) => {
  const { commitUntil, snapshot } = await start(t)
  const end = snapshot()
  await commitUntil(({ log }) => log >= 4 * PAGES)
  t.equal(end(), 0)
  await commitUntil(({ log }) => log < PAGES)
})

t.test('where the thread cannot open the database, the writer does its work', async (t) => {
  const { commitUntil, committed, stored } = await start(t, { file: '/' })
  // Often enough for it to be tried again.
  for (let round = 0; round < 100; round++) {
    await commitUntil(({ log }) => log >= PAGES)
    await commitUntil(({ log }) => log < PAGES)
  }
  t.equal(stored(), committed())
})

t.test('a checkpoint that cannot be made now is left for later', async (t) => {
  const file = join(t.testdir(), 'plants.db')
  const db = openDatabase({ file, lockTimeout: 0 })
  const writeBack = prepareCheckpoint(db, 'PASSIVE')
  db.exec("INSERT INTO plants (id, name) VALUES (1, 'x')")
  db.exec('BEGIN; DELETE FROM plants')
  t.same(writeBack(), { log: 0, checkpointed: 0 })
  db.exec('COMMIT')
  const { log, checkpointed } = writeBack()
  t.ok(log > 0)
  t.equal(checkpointed, log)
  db.close()
  t.throws(writeBack, TypeError)
})

/** @param elsewhere what the thread is told to open instead */
async function start(t: Test, elsewhere: Partial<DatabaseOptions> = {}) {
  let close = async () => {}
  t.teardown(() => close())
  const options = { file: join(t.testdir(), 'plants.db'), lockTimeout: 5000 }
  const db = openDatabase(options)
  const reader = openDatabase(options)
  const checkpointer = new Checkpointer(db, { ...options, ...elsewhere }, PAGES)
  close = async () => {
    await checkpointer.close()
    for (const connection of [reader, db]) connection.close()
  }

  const insert = db.prepare("INSERT INTO plants (id, name) VALUES (?, 'x')")
  const look = prepareCheckpoint(db, 'NOOP')
  let count = 0
  const commitUntil = async (reached: (state: WalState) => boolean) => {
    for (const end = count + 100_000; count < end; await setImmediate()) {
      insert.run(count++)
      checkpointer.committed()
      if (reached(look())) return
    }
    throw new Error(`the log has ${JSON.stringify(look())}`)
  }
  const counted = reader.prepare('SELECT count(*) FROM plants').pluck()
  const stored = () => Number(counted.get())
  const snapshot = () => {
    reader.exec('BEGIN')
    stored()
    return () => {
      const seen = stored()
      reader.exec('COMMIT')
      return seen
    }
  }
  return { commitUntil, committed: () => count, stored, snapshot }
}
