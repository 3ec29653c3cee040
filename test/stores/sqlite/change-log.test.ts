/** The log across settings and backups. */
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import t, { type Test } from 'tap'
import { backUpDatabase } from '../../../src/stores/sqlite/backup/database-backup.ts'
import { checkDatabase } from '../../../src/stores/sqlite/sqlite-check.ts'
import { SqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts'
import { inMemory, makeFolder } from '../../../tools/temporary-folders.ts'
import { changesAfter, contentOf, latest, pageOf } from '../changes.ts'

const lockTimeout = 5000
const KEEP = { age: 3_600_000, bytes: 2 ** 30 }
const OFF = { age: 0, bytes: 2 ** 30 }

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

for (const database of ['plants.db', ':memory:']) {
  t.test(`a store without a retention of changes has no feed: ${database}`, async (t) => {
    const { folder, open } = opener(t)
    const file = database === ':memory:' ? database : join(folder, database)
    const store = open({ file, retention: OFF })
    await store.create({ id: 1n, name: 'x' })
    t.strictSame(await store.createAll([{ id: 1n, name: 'y' }]), { conflict: 1n })
    for (const after of [undefined, 'latest', 'x']) {
      t.equal(await store.readChanges({ after, limit: 1 }), 'off')
    }
    await store.close()
    if (file !== database) t.same(faultsOf(file), [])
  })
}

t.test('a process without the setting leaves the log as it is', async (t) => {
  const { file, open } = opener(t)
  const service = open({ retention: KEEP })
  const start = await latest(service)
  const command = open({ sameThread: true })
  await command.importPlants([{ id: 1n, name: 'x' }], 'stop')
  t.strictSame((await changesAfter(service, start)).map(contentOf), [
    ['created', 1n, { name: 'x' }],
  ])
  await Promise.all([service.close(), command.close()])
  await open({ retention: OFF }).close()
  const later = open()
  await later.create({ id: 2n, name: 'x' })
  t.equal(await later.readChanges({ limit: 1 }), 'off')
  t.same(faultsOf(file), [])
})

t.test('turning the log off concerns the processes that run already', async (t) => {
  const { open } = opener(t)
  const running = open({ retention: KEEP })
  await running.create({ id: 1n, name: 'x' })
  open({ retention: OFF })
  await running.create({ id: 2n, name: 'x' })
  t.equal(await running.readChanges({ limit: 1 }), 'off')
})

t.test('a log that was off begins again, with other cursors', async (t) => {
  const { file, open } = opener(t)
  const before = open({ retention: KEEP })
  const cursors = [await latest(before)]
  await before.create({ id: 1n, name: 'x' })
  cursors.push(await latest(before))
  await before.close()
  await open({ retention: OFF }).close()
  const after = open({ retention: KEEP })
  const start = await latest(after)
  await after.create({ id: 2n, name: 'x' })
  for (const cursor of cursors) {
    t.equal(await after.readChanges({ after: cursor, limit: 1 }), 'expired')
  }
  const expected = [['created', 2n, { name: 'x' }]]
  t.strictSame((await changesAfter(after, start)).map(contentOf), expected)
  t.strictSame((await changesAfter(after)).map(contentOf), expected)
  await after.close()
  await open({ retention: KEEP }).close()
  const reopened = open()
  t.strictSame((await changesAfter(reopened, start)).map(contentOf), expected)
  t.same(faultsOf(file), [])
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
