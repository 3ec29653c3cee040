/** Resets of a store in memory. */
import { join } from 'node:path'
import t from 'tap'
import { declareIndexes } from '../../../service/sorting.ts'
import { changeRecord } from '../../../service/store/record-store.ts'
import { keyRanges } from '../../../service/store/sort-index.ts'
import { SqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts'
import { createIn } from '../../helpers/plants/single-changes.ts'
import { changesAfter, latest, pageOf } from '../feed-reads.ts'
import { exported } from '../plants.ts'

const lockTimeout = 5000

const NAME = { name: 'name', type: 'string', isRequired: true } as const

const create = (id: bigint, name: string) => ({ type: 'create', id, name, tag: undefined }) as const

function open() {
  const store = new SqliteStore({ file: ':memory:', lockTimeout })
  t.teardown(() => store.close())
  return store
}

t.test('a store in a file has none', async (t) => {
  const file = join(t.testdir(), 'plants.db')
  const store = new SqliteStore({ file, lockTimeout, sameThread: true })
  t.equal(store.reset, undefined)
  await store.close()
})

t.test('all cursors expire, and positions go on', async (t) => {
  const store = open()
  const start = (await pageOf(store, undefined)).next
  for (const id of [1n, 2n]) await createIn(store, { id, name: 'x' })
  const cursors = [start, ...(await changesAfter(store)).map(({ cursor }) => cursor)]
  for (const plants of [[], [create(3n, 'y')], []]) {
    cursors.push(await latest(store))
    await store.reset?.(plants)
    for (const after of cursors) t.equal(await store.readChanges({ after, limit: 1 }), 'expired')
    t.match(
      (await changesAfter(store)).map(({ id }) => id),
      plants.map(({ id }) => id),
    )
    t.equal((await exported(store)).length, plants.length)
  }
})

t.test('changes that share a transaction with it are made in order', async (t) => {
  const store = open()
  await createIn(store, { id: 1n, name: 'before' })
  const results = await Promise.all([
    store.change(create(2n, 'lost')),
    store.reset?.([create(3n, 'seed'), create(4n, 'seed')]),
    store.change(create(3n, 'other')),
    store.change(create(1n, 'after')),
  ])
  t.same(results, ['created', undefined, 'plant-exists', 'created'])
  const changes = await changesAfter(store)
  t.same(
    changes.map(({ id, endsTransaction }) => [id, endsTransaction]),
    [
      [3n, undefined],
      [4n, true],
      [1n, true],
    ],
  )
})

t.test('records stay', async (t) => {
  const store = open()
  const record = { kind: 'token', key: 'mine' } as const
  await changeRecord(store, { ...record, expected: undefined, next: '1' })
  await store.reset?.([])
  t.match(await store.findRecord(record.kind, record), { value: '1' })
})

t.test('sorted lists have the new plants', async (t) => {
  const store = open()
  await declareIndexes(store, [NAME])
  while (await store.indexPlants());
  await createIn(store, { id: 1n, name: 'a' })
  const plants = Array.from({ length: 3000 }, (_, index) => create(BigInt(index), `${index % 7}`))
  await store.reset?.(plants)
  const ranges = keyRanges(NAME, {}, false)
  const page = await store.listSorted({ member: NAME, ranges, isDescending: false, limit: 3 })
  if (typeof page === 'string') return t.fail(page)
  t.match(page.json, /^\[\{"id":0,[^}]*\},\{"id":7,[^}]*\},\{"id":14,[^}]*\}\]$/)
})
