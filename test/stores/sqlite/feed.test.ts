/** The feed across turned-off databases and backups. */

import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import t, { type Test } from 'tap'
import { NEW_FEED } from '../../../src/stores/shared/engine.ts'
import { backUpDatabase } from '../../../src/stores/sqlite/backup/database-backup.ts'
import { checkDatabase } from '../../../src/stores/sqlite/check/sqlite-check.ts'
import { beginMissingFeed } from '../../../src/stores/sqlite/feed/change-triggers.ts'
import { SqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts'
import { inMemory, makeFolder } from '../../../tools/temporary-folders.ts'
import { changesAfter, contentOf, latest, pageOf } from '../changes.ts'
import { TURN_OFF } from './turned-off.ts'

const lockTimeout = 5000
const KEEP = { age: 3_600_000, bytes: 2 ** 30 }

/** Opens stores that are closed when the test ends. */
function opener(t: Test) {
  const folder = makeFolder(t, inMemory())
  const stores: SqliteStore[] = []
  t.teardown(() => Promise.all(stores.map((store) => store.close())))
  const file = join(folder, 'plants.db')
  const open = (options: Partial<ConstructorParameters<typeof SqliteStore>[0]> = {}) => {
    const store = new SqliteStore({ file, lockTimeout, ...options })
    stores.push(store)
    return store
  }
  return { folder, file, open }
}

function faultsOf(file: string): string[] {
  return [...checkDatabase({ file, lockTimeout })]
    .filter(({ status }) => status === 'fault')
    .map(({ subject, message }) => `${subject}: ${message}`)
}

for (const [what, options] of [
  ['a service', { retention: KEEP }],
  ['a command', { sameThread: true }],
] as const) {
  t.test(`${what} begins a new feed if the feed was off`, async (t) => {
    const { file, open } = opener(t)
    const before = open(options)
    const cursors = [await latest(before)]
    await before.create({ id: 1n, name: 'x' })
    cursors.push(await latest(before))
    await before.close()
    const db = new Sqlite(file)
    db.exec(TURN_OFF)
    db.exec("INSERT INTO plants (id, name) VALUES (2, 'not logged')")
    db.close()
    const problems: string[] = []
    const onProblem = (problem: string) => problems.push(problem)
    const after = open({ ...options, onProblem })
    t.same(problems, [NEW_FEED])
    for (const cursor of cursors) {
      t.equal(await after.readChanges({ after: cursor, limit: 1 }), 'expired')
    }
    t.strictSame(await changesAfter(after), [])
    const start = await latest(after)
    await after.create({ id: 3n, name: 'x' })
    const expected = [['created', 3n, { name: 'x' }]]
    t.strictSame((await changesAfter(after, start)).map(contentOf), expected)
    t.strictSame((await changesAfter(after)).map(contentOf), expected)
    await after.close()
    const again = open({ ...options, onProblem })
    t.strictSame((await changesAfter(again, start)).map(contentOf), expected)
    t.same(problems, [NEW_FEED], 'once')
    t.same(faultsOf(file), [])
  })
}

t.test('a feed that another process begins first is not begun again', async (t) => {
  const { file, open } = opener(t)
  await open().close()
  const [db, other] = [new Sqlite(file), new Sqlite(file)]
  t.teardown(() => {
    db.close()
    other.close()
  })
  db.exec(TURN_OFF)
  const { transaction } = db
  db.transaction = (work) => {
    t.equal(beginMissingFeed(other), true)
    return transaction.call(db, work) as never
  }
  t.equal(beginMissingFeed(db), false)
  t.equal(db.prepare('SELECT count(*) FROM change_log').pluck().get(), 1)
})

t.test('cursors in a restored backup', async (t) => {
  const { folder, file, open } = opener(t)
  const copy = join(folder, 'copy.db')
  const service = open({ retention: KEEP })
  const empty = await latest(service)
  await service.create({ id: 1n, name: 'one' })
  const before = await latest(service)
  const { signal } = new AbortController()
  await backUpDatabase({ database: file, file: copy, lockTimeout, signal, onProgress() {} })
  await service.create({ id: 2n, name: 'two' })
  await service.create({ id: 3n, name: 'six' })
  const lost = (await changesAfter(service, before)).map(({ cursor }) => cursor)
  const positions = positionsIn(file)
  await service.close()
  const lastTime = Date.now()
  copyFileSync(copy, file)
  const restored = open({ retention: KEEP })

  t.test('continue if the backup has their change', async (t) => {
    t.strictSame((await changesAfter(restored, empty)).map(contentOf), [
      ['created', 1n, { name: 'one' }],
    ])
    t.strictSame(await pageOf(restored, before), { changes: [], next: before })
    t.equal(await latest(restored), before)
  })

  const isExpired = async (t: Test) => {
    t.equal(lost.length, 2)
    for (const after of lost) {
      t.equal(await restored.readChanges({ after, limit: 1 }), 'expired')
    }
  }

  t.test('are expired if the backup lacks their change', isExpired)

  t.test('stay expired when other changes have the same positions', async (t) => {
    while (Date.now() <= lastTime + 1) await new Promise(setImmediate)
    await restored.create({ id: 2n, name: 'TWO' })
    await restored.create({ id: 3n, name: 'SIX' })
    t.strictSame(positionsIn(file), positions)
    await isExpired(t)
    t.strictSame((await changesAfter(restored, before)).map(contentOf), [
      ['created', 2n, { name: 'TWO' }],
      ['created', 3n, { name: 'SIX' }],
    ])
  })
})

function positionsIn(file: string): unknown[] {
  const db = new Sqlite(file, { readonly: true })
  try {
    return db.prepare('SELECT position FROM changes').pluck().all()
  } finally {
    db.close()
  }
}
