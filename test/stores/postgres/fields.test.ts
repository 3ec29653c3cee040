/** The own fields of plants, and settings. */

import t, { type Test } from 'tap'
import type { NewPlant, StoredPlant } from '../../../service/plant-store.ts'
import { contentVersion } from '../../../service/plant-store.ts'
import { PostgresStore } from '../../../src/stores/postgres/postgres-store.ts'
import { each } from '../../helpers/lists.ts'
import { sharedPostgres } from '../../helpers/shared-postgres.ts'
import { changesAfter, contentOf, latest } from '../changes.ts'
import { exported } from '../plants.ts'
import { emptyDatabases } from './databases.ts'

const { server, emptyDatabase } = await sharedPostgres()
const database = emptyDatabases(server, emptyDatabase)

/** An empty database, and two stores that share it. */
async function setUp(t: Test) {
  const made = await database()
  const open = async () => {
    const store = await PostgresStore.open({ url: made.url, timeout: 10_000 })
    t.teardown(() => store.close())
    return store
  }
  return { ...made, store: await open(), other: await open() }
}

const FIELDS = '"height":120,"light":"sun"'

const abies: StoredPlant = { id: 4n, name: 'Abies', tag: 'Tree', fields: FIELDS }

t.test('plants are returned with their own fields', async (t) => {
  const { store } = await setUp(t)
  const bare = { id: 5n, name: 'Acer' }
  const untagged = { id: 6n, name: 'Alnus', fields: '"note":"\\u0000 \\" ü 🌱"' }
  const long = { id: 7n, name: 'Arbor', fields: `"note":"${'x'.repeat(2 ** 20)}"` }
  const plants = [abies, bare, untagged, long]
  for (const plant of plants) t.equal(await store.create(plant), 'created')
  for (const plant of plants) t.strictSame(await store.get(plant.id), plant)
  t.strictSame(await exported(store), plants)
  const json = [
    `{"id":4,"name":"Abies","tag":"Tree",${FIELDS}}`,
    '{"id":5,"name":"Acer"}',
    `{"id":6,"name":"Alnus",${untagged.fields}}`,
    `{"id":7,"name":"Arbor",${long.fields}}`,
  ]
  const pageOf = (...parts: (string | undefined)[]) => `[${parts.join()}]`
  t.equal((await store.list({ limit: 9 })).json, pageOf(...json))
  t.equal((await store.list({ limit: 9, tag: 'Tree' })).json, pageOf(json[0]))
  t.equal((await store.getAll([5n, 7n])).json, pageOf(json[1], json[3]))
  t.equal((await store.search({ limit: 9, text: 'al' })).json, pageOf(json[2]))
  t.same(await store.search({ limit: 9, text: 'height' }), { json: '[]', next: undefined })
  t.strictSame(
    (await changesAfter(store)).map(contentOf),
    plants.map(({ id, ...content }) => ['created', id, content]),
  )
})

/** Creates of a stored plant. */
const REPEATED: readonly [what: string, change: Partial<NewPlant>, result: string][] = [
  ['the same fields', {}, 'replayed'],
  ['the same fields, without others', { clears: '"photo":null' }, 'replayed'],
  ['one of the fields', { fields: '"light":"sun"' }, 'replayed'],
  ['no field', { fields: undefined }, 'replayed'],
  ['another value', { fields: '"height":121,"light":"sun"' }, 'conflict'],
  ['another field', { fields: `${FIELDS},"photo":"x"` }, 'conflict'],
  ['a missing field', { fields: '"light":"sun"', clears: '"height":null' }, 'conflict'],
  ['another tag', { tag: 'Shrub' }, 'conflict'],
]

for (const [what, change, result] of REPEATED) {
  t.test(`a create that repeats a plant with ${what} is a ${result}`, async (t) => {
    const { store, other } = await setUp(t)
    const { fields = abies.fields, ...rest } = change
    const given = 'fields' in change && change.fields === undefined ? {} : { fields }
    const { fields: _, ...unnamed } = abies
    const again: NewPlant = { ...unnamed, ...rest, ...given }
    t.same(
      await Promise.all([abies, again].map((plant) => store.create(plant))),
      ['created', result],
      'in one statement',
    )
    t.equal(await other.create(again), result, 'in another one')
    t.same(await other.apply(each('create', [again]), 'each'), [result], 'in a list')
    t.strictSame(await exported(store), [abies])
    t.equal((await changesAfter(store)).length, 1)
  })
}

t.test('a put keeps the fields that it does not name', async (t) => {
  const { store } = await setUp(t)
  await store.create(abies)
  const put = { id: 4n, name: 'Abies', fields: '"height":5', clears: '"photo":null' }
  t.same(await store.apply(each('put', [put]), 'each'), ['updated'])
  const kept = { id: 4n, name: 'Abies', fields: '"height":5,"light":"sun"' }
  t.strictSame(await exported(store), [kept])
  t.same(await store.apply(each('put', [put]), 'each'), ['unchanged'])
  const { id, ...content } = kept
  t.strictSame((await changesAfter(store)).map(contentOf).slice(1), [['changed', id, content]])
})

t.test('an update sets and clears fields', async (t) => {
  const { store } = await setUp(t)
  await store.create({ id: 4n, name: 'Abies' })
  const start = await latest(store)
  const set = { id: 4n, name: 'Abies', fields: '"height":1,"light":"sun"' }
  t.strictSame(await store.update(4n, { fields: '"height":1,"light":"sun"' }), set)
  const cleared = { id: 4n, name: 'Acer', fields: '"light":"sun"' }
  t.strictSame(await store.update(4n, { name: 'Acer', clears: '"height":null' }), cleared)
  t.strictSame(await store.update(4n, { fields: '"light":"sun"' }), cleared, 'unchanged')
  const tagged = { ...cleared, tag: 'Tree' }
  t.strictSame(await store.update(4n, { tag: 'Tree' }), tagged)
  const last = { id: 4n, name: 'Acer', tag: 'Tree' }
  t.strictSame(await store.update(4n, { clears: '"light":null' }), last)
  t.equal(await store.update(5n, { fields: '"height":1' }), 'not-found')
  t.strictSame(
    (await changesAfter(store, start)).map(contentOf),
    [set, cleared, tagged, last].map(({ id, ...content }) => ['changed', id, content]),
  )
})

t.test('a conditional update and removal compare the fields', async (t) => {
  const { store } = await setUp(t)
  await store.create(abies)
  const stale = [contentVersion({ name: 'Abies', tag: 'Tree' })]
  const current = [contentVersion(abies)]
  for (const patch of [{ fields: '"height":1' }, { name: 'Acer' }]) {
    t.equal(await store.update(4n, patch, stale), 'changed')
  }
  t.equal(await store.remove(4n, stale), 'changed')
  const renamed = { ...abies, name: 'Acer' }
  t.strictSame(await store.update(4n, { name: 'Acer' }, current), renamed)
  const grown = { ...renamed, fields: '"height":1,"light":"sun"' }
  const version = contentVersion(renamed)
  t.strictSame(await store.update(4n, { fields: '"height":1' }, [version]), grown)
  t.equal(await store.remove(4n, [contentVersion(grown)]), 'removed')
})

t.test('no concurrent update of other fields is lost', async (t) => {
  const { store, other } = await setUp(t)
  await store.create({ id: 4n, name: 'Abies' })
  const names = Array.from({ length: 12 }, (_, index) => `"f${10 + index}":1`)
  const updates = names.map((fields, index) =>
    (index % 2 ? store : other).update(4n, index === 3 ? { fields, tag: 'Tree' } : { fields }),
  )
  await Promise.all(updates)
  t.strictSame(await store.get(4n), { id: 4n, name: 'Abies', tag: 'Tree', fields: names.join() })
})

t.test('a list that is refused changes no fields', async (t) => {
  const { store } = await setUp(t)
  await store.create(abies)
  const start = await latest(store)
  const results = await store.apply(
    [
      { type: 'update', id: 4n, patch: { fields: '"height":1', clears: '"light":null' } },
      { type: 'put', id: 4n, name: 'Abies', fields: '"light":"shade"' },
      { type: 'create', id: 4n, name: 'Abies', fields: '"light":"sun"' },
    ],
    'all-or-none',
  )
  t.same(results, ['updated', 'updated', 'conflict'])
  t.strictSame(await exported(store), [abies])
  t.same(await changesAfter(store, start), [])
})

t.test('fields count toward the size of rows and of pages of the feed', async (t) => {
  const { store, query } = await setUp(t)
  await query(`
    INSERT INTO plants (id, name, fields)
    SELECT n, 'x', '"note":"' || (
      SELECT string_agg(md5(n || '/' || part), '') FROM generate_series(1, 32) AS part
    ) || '"' FROM generate_series(1, 100) AS n`)
  const rows = await query<{ text: number; fields: number }>(
    'SELECT text::int, cardinality(fields) AS fields FROM plant_changes',
  )
  t.ok(rows.length >= 6, `${rows.length} rows`)
  t.notOk(rows.find(({ text }) => text > 17_000))
  t.equal(
    rows.reduce((sum, { fields }) => sum + fields, 0),
    100,
  )
  const before = await latest(store)
  const [size] = await query<{ bytes: number }>('SELECT bytes::int FROM plant_change_log')
  t.ok(Number(size?.bytes) > 100_000, `${size?.bytes} bytes`)
  const long = `"note":"${'x'.repeat(2 ** 20)}"`
  await store.apply(
    each(
      'create',
      Array.from({ length: 10 }, (_, index) => ({ id: BigInt(-index), name: 'x', fields: long })),
    ),
    'each',
  )
  const page = await store.readChanges({ after: before, limit: 1000 })
  t.ok(typeof page === 'object' && page.changes.length < 10)
  t.equal((await changesAfter(store, before)).length, 10)
})

t.test('changes without fields take no space for them', async (t) => {
  const { store, query } = await setUp(t)
  await Promise.all([1n, 2n].map((id) => store.create({ id, name: 'x' })))
  t.same(await query('SELECT FROM plant_changes WHERE fields IS NOT NULL'), [])
  t.strictSame(await changesAfter(store).then((changes) => changes.map(contentOf)), [
    ['created', 1n, { name: 'x' }],
    ['created', 2n, { name: 'x' }],
  ])
})

t.test('a setting is replaced only if it has the expected value', async (t) => {
  const { store, other } = await setUp(t)
  t.equal(await store.readSetting('fields'), undefined)
  t.equal(await store.replaceSetting('fields', 'a', 'b'), false)
  t.equal(await store.readSetting('fields'), undefined)
  t.equal(await store.replaceSetting('fields', undefined, 'a'), true)
  t.equal(await other.readSetting('fields'), 'a')
  t.equal(await other.replaceSetting('fields', undefined, 'b'), false)
  t.equal(await other.replaceSetting('fields', 'b', 'c'), false)
  t.equal(await other.replaceSetting('fields', 'a', 'b'), true)
  t.equal(await store.readSetting('fields'), 'b')
  t.equal(await store.readSetting('others'), undefined)
})

t.test('one of concurrent replacements of a setting succeeds', async (t) => {
  const { store, other } = await setUp(t)
  const values = ['a', 'b', 'c', 'd']
  let expected: string | undefined
  for (let round = 0; round < 3; round++) {
    const replaced = await Promise.all(
      values.map((value, index) =>
        (index % 2 ? store : other).replaceSetting('fields', expected, `${value}${round}`),
      ),
    )
    const stored = await store.readSetting('fields')
    t.same(
      values.filter((_, index) => replaced[index]).map((value) => `${value}${round}`),
      [stored],
    )
    expected = stored
  }
})

t.test('a setting can be replaced while the database is frozen', async (t) => {
  const { store } = await setUp(t)
  await store.restrict({ expected: undefined, next: 'frozen' })
  t.equal(await store.replaceSetting('fields', undefined, 'a'), true)
})
