/** The feed across backups. */

import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import t, { type Test } from 'tap'
import { SqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts'
import { inMemory, makeFolder } from '../../../tools/tap/temporary-folders.ts'
import { createIn } from '../../helpers/plants/single-changes.ts'
import { changesAfter, contentOf, latest, pageOf } from '../feed-reads.ts'
import { backUp } from './files.ts'

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

t.test('cursors in a restored backup', async (t) => {
  const { folder, file, open } = opener(t)
  const copy = join(folder, 'copy.db')
  const service = open({ retention: KEEP })
  const empty = await latest(service)
  await createIn(service, { id: 1n, name: 'one' })
  const before = await latest(service)
  await backUp(file, copy)
  await createIn(service, { id: 2n, name: 'two' })
  await createIn(service, { id: 3n, name: 'six' })
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
    await createIn(restored, { id: 2n, name: 'TWO' })
    await createIn(restored, { id: 3n, name: 'SIX' })
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
