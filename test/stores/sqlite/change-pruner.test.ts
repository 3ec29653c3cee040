import t from 'tap'
import { RetentionClock } from '../../../src/stores/shared/retention-clock.ts'
import {
  prepareExcess,
  preparePrune,
  pruneChanges,
} from '../../../src/stores/sqlite/feed/change-pruner.ts'
import { CHANGE_OVERHEAD_BYTES } from '../../../src/stores/sqlite/feed/change-triggers.ts'
import { openDatabase } from '../../../src/stores/sqlite/file/database.ts'

/** The size of a change to a plant of 100,000 bytes. */
const LARGE = 100_000 + CHANGE_OVERHEAD_BYTES

t.test('all text of a change counts, and goes when the change becomes the start', async (t) => {
  const db = openDatabase({ file: ':memory:', lockTimeout: 0 })
  t.teardown(() => db.close())
  const changes = db.prepare('SELECT position, type, name, tag, fields FROM changes').raw()
  const texts = ['\u00e9', 'Tree', '"light":"sun"']
  const size = BigInt(CHANGE_OVERHEAD_BYTES + Buffer.byteLength(texts.join('')))
  db.prepare('INSERT INTO plants (id, name, tag, fields) VALUES (1, ?, ?, ?)').run(texts)
  db.exec('UPDATE plants SET fields = NULL')
  const last = [size * 2n - 13n, 1n, ...texts.slice(0, 2), null]
  t.strictSame(changes.all(), [[0n, 3n, null, null, null], [size, 0n, ...texts], last])
  const prune = preparePrune(db)
  prune({ before: 0, bytes: 1 })
  t.strictSame(changes.all(), [[size, 3n, null, null, null], last])
})

t.test('one transaction deletes a limited number and size of changes', async (t) => {
  const db = openDatabase({ file: ':memory:', lockTimeout: 0 })
  t.teardown(() => db.close())
  const insert = db.prepare('INSERT INTO plants (id, name) VALUES (?, ?)')
  const findExcess = prepareExcess(db)
  const all = { before: Number.MAX_SAFE_INTEGER, bytes: 2 ** 40 }
  for (let id = 0; id < 3000; id++) insert.run(id, '')
  t.equal(
    findExcess(all),
    1000n * BigInt(CHANGE_OVERHEAD_BYTES),
    'before it, there are the start of the feed and 999 changes',
  )
  db.exec('DELETE FROM changes')
  for (let id = 3000; id < 3010; id++) insert.run(id, 'x'.repeat(100_000))
  t.equal(findExcess(all), BigInt(4 * LARGE))
  const upTo = (changes: number) => ({ before: 0, bytes: changes * LARGE })
  for (const [limits, position] of [
    [upTo(0), BigInt(4 * LARGE)],
    [upTo(2), BigInt(4 * LARGE)],
    [upTo(7), BigInt(3 * LARGE)],
    [upTo(8), BigInt(2 * LARGE)],
    [upTo(9), BigInt(LARGE)],
    [upTo(10), undefined],
  ] as const) {
    t.equal(findExcess(limits), position)
  }
})

t.test('an error that is a bug is not ignored', async (t) => {
  const methods = {
    hasExcess: () => {
      throw new TypeError('a bug')
    },
    prune: async () => {},
  }
  await t.rejects(
    pruneChanges(
      { age: 1, bytes: 1 },
      new RetentionClock(1),
      methods,
      new AbortController().signal,
    ),
    new TypeError('a bug'),
  )
})
