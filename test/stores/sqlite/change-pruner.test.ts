import t, { type Test } from 'tap'
import type { Change } from '../../../service/store/change-feed.ts'
import { RetentionClock } from '../../../src/stores/shared/retention-clock.ts'
import {
  prepareExcess,
  preparePrune,
  pruneChanges,
} from '../../../src/stores/sqlite/feed/change-pruner.ts'
import { CHANGE_OVERHEAD_BYTES, MARK_END } from '../../../src/stores/sqlite/feed/change-triggers.ts'
import { openDatabase } from '../../../src/stores/sqlite/file/database.ts'
import { prepareChangeRead } from '../../../src/stores/sqlite/reads/change-reader.ts'

/** More than any change has. */
const ALL = { before: Number.MAX_SAFE_INTEGER, bytes: 2 ** 40 }

/** A database in memory. */
function open(t: Test) {
  const db = openDatabase({ file: ':memory:', lockTimeout: 0 })
  t.teardown(() => db.close())
  const insert = db.prepare('INSERT INTO plants (id, name) VALUES (?, ?)')
  return {
    db,
    /** Creates plants, marked as one transaction. */
    create(from: number, to: number, name = '') {
      for (let id = from; id < to; id++) insert.run(id, name)
      db.exec(MARK_END)
    },
    count: () => db.prepare<[], bigint>('SELECT count(*) FROM changes').pluck().get(),
  }
}

t.test('all text of a change counts, and goes when the change becomes the start', async (t) => {
  const { db } = open(t)
  const changes = db.prepare('SELECT position, type, name, tag, fields, ends FROM changes').raw()
  const texts = ['\u00e9', 'Tree', '"light":"sun"']
  const size = BigInt(CHANGE_OVERHEAD_BYTES + Buffer.byteLength(texts.join('')))
  db.prepare('INSERT INTO plants (id, name, tag, fields) VALUES (1, ?, ?, ?)').run(texts)
  db.exec(MARK_END)
  db.exec('UPDATE plants SET fields = NULL')
  const last = [size * 2n - 13n, 1n, ...texts.slice(0, 2), null]
  const start = [3n, null, null, null]
  t.strictSame(changes.all(), [
    [0n, ...start, 1n],
    [size, 0n, ...texts, 1n],
    [...last, 0n],
  ])
  preparePrune(db)({ before: 0, bytes: 1 })
  t.strictSame(changes.all(), [
    [size, ...start, 1n],
    [...last, 1n],
  ])
})

t.test('one transaction deletes a limited number and size of changes', async (t) => {
  const { db, create, count } = open(t)
  const [hasExcess, prune] = [prepareExcess(db), preparePrune(db)]
  t.equal(hasExcess(ALL), false)
  for (let id = 0; id < 3000; id++) create(id, id + 1)
  t.equal(hasExcess(ALL), true)
  const counts: unknown[] = []
  while (prune(ALL)) counts.push(count())
  t.strictSame(counts, [2001n, 1001n, 1n])
  t.equal(hasExcess(ALL), false)
  // Deletes the start, four of them, and finds nothing more.
  for (let id = 3000; id < 3010; id++) create(id, id + 1, 'x'.repeat(100_000))
  counts.length = 0
  while (prune(ALL)) counts.push(count())
  t.strictSame(counts, [8n, 5n, 2n, 1n])
})

t.test('no transaction is cut, whatever its size and the limits', async (t) => {
  const { db, create } = open(t)
  const prune = preparePrune(db)
  const read = prepareChangeRead(db)
  const page = (after?: string): readonly Change[] => {
    const result = read({ after, limit: 1000 })
    const { changes, next } = typeof result === 'object' ? result : { changes: [], next: '' }
    return changes.length === 0 ? [] : [...changes, ...page(next)]
  }
  const isExpired = (after: string | undefined) => read({ after, limit: 1 }) === 'expired'
  create(1, 2501)
  create(2501, 2503)
  create(2503, 2504)
  const cursors = page()
  const sizeOf = (changes: number) => changes * CHANGE_OVERHEAD_BYTES
  for (const limit of [2504, 2503, 1000, 4]) {
    while (prune({ before: 0, bytes: sizeOf(limit) }));
    t.equal(page().length, 2503, `a limit of ${limit}`)
  }
  // The first transaction is examined in three steps, and then deleted in three.
  const pruneAgain = preparePrune(db)
  for (const [hasMore, left] of [
    [true, 2503],
    [true, 2503],
    [true, 3],
    [true, 3],
    [true, 3],
    [false, 3],
  ] as const) {
    t.equal(pruneAgain({ before: 0, bytes: sizeOf(2) }), hasMore)
    t.equal(page().length, left)
  }
  t.ok(isExpired(cursors[2498]?.cursor))
  t.match(page(cursors[2499]?.cursor), [{ id: 2501n }, { id: 2502n }, { id: 2503n }])
  while (prune(ALL));
  t.strictSame(page(), [])
})

t.test('what a rolled back transaction has examined is examined again', async (t) => {
  const { db, create, count } = open(t)
  const [hasExcess, prune] = [prepareExcess(db), preparePrune(db)]
  create(1, 4)
  const fail = db.transaction(() => {
    prune(ALL)
    throw new Error('the disk is full')
  })
  t.throws(fail, /the disk is full/)
  while (prune(ALL));
  t.equal(count(), 1n)
  t.equal(hasExcess(ALL), false)
})

t.test('changes by other programs, which mark nothing, are deleted too', async (t) => {
  const { db, count } = open(t)
  const [hasExcess, prune] = [prepareExcess(db), preparePrune(db)]
  const limits = { before: 0, bytes: CHANGE_OVERHEAD_BYTES }
  for (let id = 0; id < 10; id++) {
    db.exec(`INSERT INTO plants (id, name) VALUES (${id}, '')`)
    t.equal(hasExcess(limits), true)
    while (prune(limits));
    t.equal(count(), 2n)
    t.equal(hasExcess(limits), false)
  }
})

t.test('an error that is a bug is not ignored', async (t) => {
  const methods = {
    hasExcess: () => {
      throw new TypeError('a bug')
    },
    prune: async () => false,
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
