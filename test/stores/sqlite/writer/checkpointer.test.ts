import { once } from 'node:events'
import { readFileSync, renameSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { MessageChannel } from 'node:worker_threads'
import t, { type Test } from 'tap'
import {
  openDatabase,
  type SqliteOptions,
  WAL_PAGES,
} from '../../../../src/stores/sqlite/file/database.ts'
import { OpenFile } from '../../../../src/stores/sqlite/file/file-identity.ts'
import {
  Checkpointer,
  checkpointThread,
  prepareCheckpoint,
  type WalState,
} from '../../../../src/stores/sqlite/writer/checkpointer.ts'
import { SqliteMetrics } from '../../../../src/stores/sqlite/writer/sqlite-metrics.ts'
import { inMemory, makeFolder } from '../../../../tools/tap/temporary-folders.ts'
import { valueIn } from '../../figures.ts'

/** The length of the WAL that starts a checkpoint, in pages. A commit adds one or two. */
const PAGES = 50

const DURATION = 'plant_store_checkpoint_duration_seconds'

t.test('a long WAL is written back during commits and then starts over', async (t) => {
  const { commitUntil, committed, stored } = await start(t, {})
  for (let round = 0; round < 3; round++) {
    // Partly written back: only the thread does that.
    await commitUntil(({ log, checkpointed }) => log >= PAGES && checkpointed < log)
    await commitUntil(({ log }) => log < PAGES)
  }
  t.equal(stored(), committed())
})

for (const elsewhere of [{}, { file: '/' }]) {
  const who = elsewhere.file === undefined ? 'thread and the writer' : 'writer alone'
  t.test(`a checkpoint of the ${who} is measured`, async (t) => {
    const { commitUntil, metrics } = await start(t, { elsewhere })
    const before = performance.now()
    await commitUntil(({ log }) => log >= PAGES / 2)
    t.equal(valueIn(await metrics.read(), `${DURATION}_count`), 0)
    await commitUntil(({ log }) => log < PAGES / 2)
    const sum = Number(valueIn(await metrics.read(), `${DURATION}_sum`))
    t.equal(valueIn(await metrics.read(), `${DURATION}_count`), 1)
    t.ok(sum > 0 && sum < (performance.now() - before) / 1000)
  })
}

t.test('a snapshot keeps its pages in the WAL until it ends', async (t) => {
  const { commitUntil, snapshot } = await start(t, {})
  const end = snapshot()
  await commitUntil(({ log }) => log >= 4 * PAGES)
  t.equal(end(), 0)
  await commitUntil(({ log }) => log < PAGES)
})

for (const elsewhere of [{}, { file: '/' }]) {
  const who = elsewhere.file === undefined ? 'with' : 'without'
  t.test(
    `a WAL that a snapshot made long shrinks without commits, ${who} the thread`,
    async (t) => {
      const { commitUntil, snapshot, whenIdle, walBytes, committed, stored } = await start(t, {
        elsewhere,
      })
      const end = snapshot()
      await commitUntil(({ log }) => log >= 4 * PAGES)
      const long = walBytes()
      for (let tick = 0; tick < 10; tick++) await whenIdle()
      t.equal(walBytes(), long, 'the snapshot needs it')
      t.equal(end(), 0)
      for (let tick = 0; walBytes() > 0 && tick < 10_000; tick++) await whenIdle()
      t.equal(walBytes(), 0)
      t.equal(stored(), committed())
      await commitUntil(({ log }) => log >= PAGES / 2)
      const short = walBytes()
      await whenIdle()
      t.equal(walBytes(), short, 'a short one stays')
    },
  )
}

t.test('SQLite shortens a WAL file only if it is longer than usual', async (t) => {
  const db = openDatabase({ file: join(t.testdir(), 'plants.db'), lockTimeout: 0 })
  const size = Number(db.pragma('journal_size_limit', { simple: true }))
  const pageSize = Number(db.pragma('page_size', { simple: true }))
  t.ok(size > 1.4 * WAL_PAGES * pageSize && size < 2 * WAL_PAGES * pageSize, `${size} bytes`)
  db.close()
})

t.test('the writer runs checkpoints if the thread cannot open the database', async (t) => {
  const { commitUntil, committed, stored, longest } = await start(t, { elsewhere: { file: '/' } })
  // Long enough for further attempts to start the thread.
  for (let round = 0; round < 8; round++) {
    await commitUntil(({ log }) => log >= PAGES)
    await commitUntil(({ log }) => log < PAGES)
  }
  t.equal(stored(), committed())
  t.ok(longest() < 2 * PAGES, `the WAL had up to ${longest()} pages`)
})

t.test('the length of the WAL is not read again during the interval', async (t) => {
  const { commitUntil } = await start(t, { intervalMs: 3_600_000 })
  let previous = 0
  let restarts = 0
  await commitUntil(({ log }) => {
    if (log < previous) restarts++
    previous = log
    return log >= 4 * PAGES
  })
  t.equal(restarts, 0)
})

t.test('a checkpoint that cannot run now is skipped', async (t) => {
  const file = join(t.testdir(), 'plants.db')
  const db = openDatabase({ file, lockTimeout: 0 })
  const writeBack = prepareCheckpoint(db, 'PASSIVE')
  db.exec("INSERT INTO plants (id, name) VALUES (1, 'x')")
  db.exec('BEGIN; DELETE FROM plants')
  t.same(writeBack(), { busy: 1, log: 0, checkpointed: 0 })
  db.exec('COMMIT')
  const { log, checkpointed } = writeBack()
  t.ok(log > 0)
  t.equal(checkpointed, log)
  db.close()
  t.throws(writeBack, TypeError)
})

t.test('the thread writes nothing to a file that was moved', async (t) => {
  const path = join(t.testdir(), 'plants.db')
  const options = { file: path, lockTimeout: 0 }
  const db = openDatabase(options)
  const { port1, port2 } = new MessageChannel()
  const data = { ...options, identity: new OpenFile(path).identity, port: port1 }
  const worker = checkpointThread.start(data, { name: 'checkpoint', transferList: [port1] })
  await once(port2, 'message')
  db.exec("INSERT INTO plants (id, name) VALUES (1, 'x')")
  const moved = `${path}.moved`
  for (const [from, to, isWritten] of [
    [path, moved, false],
    [moved, path, true],
  ] as const) {
    const before = readFileSync(from)
    renameSync(from, to)
    port2.postMessage('checkpoint')
    await once(port2, 'message')
    t.equal(!readFileSync(to).equals(before), isWritten)
  }
  port2.postMessage('close')
  await once(worker, 'exit')
  db.close()
})

t.test('a checkpoint that fails is reported, and tried again after a while', async (t) => {
  for (const retryMs of [0, undefined]) {
    const options = { file: join(t.testdir(), 'plants.db'), lockTimeout: 0 }
    const db = openDatabase(options)
    const metrics = new SqliteMetrics()
    const problems: string[] = []
    const onProblem = (problem: string) => problems.push(problem)
    const settings = { pages: PAGES, intervalMs: 0, metrics, onProblem }
    // A thread that cannot open the database.
    const nowhere = { ...options, file: '/' }
    const checkpointer = new Checkpointer(
      db,
      nowhere,
      retryMs === undefined ? settings : { ...settings, retryMs },
    )
    const insert = db.prepare("INSERT INTO plants (id, name) VALUES (?, 'x')")
    for (let id = 0; id < PAGES; id++) insert.run(id)
    truncateSync(`${options.file}-wal`, 4096)
    for (let time = 0; time < 3; time++) checkpointer.afterCommit()
    t.equal(problems.length, retryMs === 0 ? 3 : 1)
    t.match(problems[0], 'cannot write /-wal back into the database: SQLITE_IOERR_S')
    t.equal(valueIn(await metrics.read(), 'plant_store_checkpoint_failures_total'), problems.length)
    await checkpointer.close()
    db.close()
  }
})

t.test('nothing is written back into a file that has replaced the open one', async (t) => {
  const { commitUntil } = await start(t, { elsewhere: { identity: 'another' } })
  let written = 0
  await commitUntil(({ log, checkpointed }) => {
    written += checkpointed
    return log >= 2 * PAGES
  })
  t.equal(written, 0)
})

/**
 * @param elsewhere options that differ for the thread
 * @param intervalMs the interval between readings of the WAL's length
 */
async function start(
  t: Test,
  { elsewhere = {}, intervalMs = 0 }: { elsewhere?: Partial<SqliteOptions>; intervalMs?: number },
) {
  const options = { file: join(makeFolder(t, inMemory()), 'plants.db'), lockTimeout: 60_000 }
  // Teardowns run in reverse order, so the connections are closed before the folder is removed.
  let close = async () => {}
  t.teardown(() => close())
  const db = openDatabase(options)
  const reader = openDatabase(options)
  const metrics = new SqliteMetrics()
  const there = { ...options, ...elsewhere }
  const settings = { pages: PAGES, intervalMs, metrics }
  const checkpointer = new Checkpointer(db, there, settings)
  close = async () => {
    await checkpointer.close()
    for (const connection of [reader, db]) connection.close()
  }

  const insert = db.prepare("INSERT INTO plants (id, name) VALUES (?, 'x')")
  const look = prepareCheckpoint(db, 'NOOP')
  let count = 0
  let longest = 0
  const commitUntil = async (reached: (state: WalState) => boolean) => {
    for (const end = count + 100_000; count < end; await setImmediate()) {
      insert.run(count++)
      checkpointer.afterCommit()
      const state = look()
      longest = Math.max(longest, state.log)
      if (reached(state)) return
    }
    throw new Error(`the WAL has ${JSON.stringify(look())}`)
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
  const [committed, length] = [() => count, () => longest]
  const walBytes = () => statSync(`${options.file}-wal`).size
  const whenIdle = async () => {
    checkpointer.whenIdle()
    await setImmediate()
  }
  const seen = { committed, stored, longest: length, walBytes }
  return { ...seen, commitUntil, snapshot, metrics, whenIdle }
}
