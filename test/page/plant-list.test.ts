import t from 'tap'
import type { StoredPlant } from '../../client/client.ts'
import type { Filter } from '../../page/list/filter.ts'
import { PAGE_SIZE, PlantList } from '../../page/list/plant-list.ts'

/** Plants with the ids from `first` to `last`. */
function plants(first: number, last: number, name = 'Abies'): StoredPlant[] {
  return Array.from({ length: last - first + 1 }, (_, index) => ({
    id: BigInt(first + index),
    name,
  }))
}

/** A list whose pages have 200 plants each, with the ids from 1. */
function listOf(count: number, filter: Filter = {}): PlantList {
  const list = new PlantList({ filter })
  for (let first = 1; first <= count; first += PAGE_SIZE) {
    list.append(plants(first, Math.min(first + PAGE_SIZE - 1, count)), first + PAGE_SIZE > count)
  }
  return list
}

const idsOf = (list: PlantList, from: number, to: number) =>
  list.slice(from, to).map((plant) => plant?.id)

t.test('a new list has no rows, and begins before the first plant', async (t) => {
  const list = new PlantList({ filter: {} })
  t.equal(list.length, 0)
  t.equal(list.end, undefined)
  t.equal(list.first, undefined)
  t.equal(list.rank(5n), 0)
  t.equal(list.find(5n), undefined)
  t.same(list.slice(0, 10), [])
})

t.test('a list can begin with any id', async (t) => {
  t.equal(new PlantList({ filter: {}, first: 5n }).end?.id, 4n)
  t.equal(new PlantList({ filter: {}, first: -(2n ** 63n) }).end, undefined)
})

t.test('rows are found by their number and by their id', async (t) => {
  const list = listOf(1000)
  t.equal(list.length, 1000)
  t.same(idsOf(list, 198, 202), [199n, 200n, 201n, 202n])
  t.same(idsOf(list, 998, 2000), [999n, 1000n])
  t.equal(list.rank(1n), 0)
  t.equal(list.rank(777n), 776)
  t.equal(list.rank(5000n), 1000)
  t.strictSame(list.find(777n), { id: 777n, name: 'Abies' })
  t.equal(list.find(5000n), undefined)
})

t.test('ids are exact', async (t) => {
  const list = new PlantList({ filter: {} })
  const ids = [-(2n ** 63n), 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n]
  list.append(
    ids.map((id) => ({ id, name: 'x' })),
    true,
  )
  for (const [index, id] of ids.entries()) {
    t.equal(list.rank(id), index)
    t.equal(list.find(id)?.id, id)
  }
})

t.test('small pages, such as those of a search, share a range', async (t) => {
  const list = new PlantList({ filter: { q: 'a' } })
  for (let id = 1; id <= 10; id++) list.append(plants(id, id), false)
  list.append([], false)
  list.forget(5000, 5001)
  t.equal(list.missing(0, 10)?.count, 10)
})

t.test('plants that are far from the rows in view are forgotten, and fetched again', async (t) => {
  const list = listOf(10_000)
  list.forget(5000, 5020)
  t.equal(list.length, 10_000)
  t.same(idsOf(list, 0, 2), [undefined, undefined])
  t.same(idsOf(list, 5000, 5002), [5001n, 5002n])
  t.equal(list.missing(5000, 5020), undefined)
  t.equal(list.find(1n), undefined)
  t.equal(list.rank(150n), 0)
  const missing = list.missing(190, 210)
  t.match(missing, { after: undefined, end: { id: 200n }, count: 200 })
  if (missing) list.fill(missing, plants(1, 200), false)
  t.same(idsOf(list, 198, 202), [199n, 200n, undefined, undefined])
  t.match(list.missing(190, 210), { after: { id: 200n }, end: { id: 400n } })
})

t.test('plants with long names are forgotten sooner', async (t) => {
  const list = listOf(400)
  const name = 'x'.repeat(100_000)
  for (let id = 1n; id <= 400n; id++) list.apply({ id, plant: { name } })
  list.forget(0, 20)
  t.equal(list.find(20n)?.name, name)
  t.equal(list.find(350n), undefined)
})

t.test('the plant that has the focus is not forgotten', async (t) => {
  const list = listOf(10_000)
  list.forget(9000, 9020, [50n, 20_000n])
  t.equal(list.find(50n)?.id, 50n)
  t.equal(list.find(350n), undefined)
})

t.test('plants that have appeared in a forgotten range are shown', async (t) => {
  const list = listOf(2000)
  list.forget(1990, 2000)
  const missing = list.missing(0, 10)
  t.ok(missing)
  if (!missing) return
  // Those with the ids 1.5 and so on do not exist, so that this range has shrunk instead, and then grown.
  list.fill(missing, plants(1, 150), false)
  t.same(idsOf(list, 148, 150), [149n, 150n])
  t.match(list.missing(150, 151), { after: { id: 150n }, end: { id: 200n }, count: 50 })
  t.equal(list.length, 2000)
})

t.test('plants that have disappeared from a forgotten range are not shown', async (t) => {
  const list = listOf(2000)
  list.forget(1990, 2000)
  const missing = list.missing(0, 10)
  if (!missing) return
  list.fill(missing, plants(201, 400), false)
  t.equal(list.length, 1800)
  t.equal(list.rank(201n), 0)
  // It has no rows, so it cannot come into view, but new plants can appear in it.
  list.forget(1700, 1710)
  t.equal(list.apply({ id: 5n, plant: { name: 'new' } }), 'added')
  t.equal(list.length, 1801)
})

t.test('a range at the end of all plants can turn out to be empty', async (t) => {
  const list = listOf(1600)
  list.forget(0, 10)
  const missing = list.missing(1590, 1600)
  if (missing) list.fill(missing, [], true)
  t.equal(list.length, 1400)
})

t.test('a range that no longer exists is not filled', async (t) => {
  const list = listOf(2000)
  list.forget(1990, 2000)
  const missing = list.missing(0, 10)
  list.invalidate()
  if (missing) list.fill(missing, plants(1, 200), false)
  t.same(idsOf(list, 0, 1), [undefined])
})

t.test('invalid rows are all fetched again', async (t) => {
  const list = listOf(500)
  for (let id = 201n; id <= 400n; id++) list.apply({ id })
  t.equal(list.length, 300)
  list.invalidate()
  t.notOk(list.isComplete)
  t.equal(list.length, 300)
  t.match(list.missing(0, 10), { after: undefined, end: { id: 200n } })
  t.match(list.missing(250, 260), { after: { id: 200n }, end: { id: 500n } })
})

t.test('changes are applied where they belong', async (t) => {
  const list = listOf(500)
  t.equal(list.apply({ id: 7n, plant: { name: 'Acer' } }), 'changed')
  t.equal(list.apply({ id: 7n, plant: { name: 'Acer' } }), 'none')
  t.equal(list.apply({ id: 7n, plant: { name: 'Acer', tag: '' } }), 'changed', 'an empty tag')
  t.equal(list.apply({ id: 0n, plant: { name: 'first' } }), 'added')
  t.equal(list.apply({ id: 501n, plant: { name: 'last' } }), 'added')
  t.equal(list.apply({ id: 3n }), 'removed')
  t.equal(list.apply({ id: 3n }), 'none')
  t.equal(list.length, 501)
  t.same(idsOf(list, 0, 4), [0n, 1n, 2n, 4n])
  t.equal(list.find(501n)?.name, 'last')
})

t.test('changes beyond the last row wait for their page', async (t) => {
  const list = new PlantList({ filter: {} })
  list.append(plants(1, 200), false)
  t.equal(list.apply({ id: 1000n, plant: { name: 'x' } }), 'none')
  t.equal(list.length, 200)
})

t.test('changes to forgotten plants wait until they are in view', async (t) => {
  const list = listOf(5000)
  list.forget(0, 10)
  t.equal(list.apply({ id: 4000n, plant: { name: 'x' } }), 'none')
  t.equal(list.apply({ id: 4000n }), 'none')
  t.equal(list.length, 5000)
})

t.test('the length is exact unless plants that are not in memory may have changed', async (t) => {
  const list = listOf(2000)
  t.ok(list.isExact)
  list.forget(0, 10)
  t.ok(list.isExact)
  list.apply({ id: 1n })
  t.ok(list.isExact)
  for (const change of [{ id: 1900n }, { id: 1900n, plant: { name: 'x' } }]) {
    list.apply(change)
    t.notOk(list.isExact)
    const missing = list.missing(1800, 1999)
    if (missing) list.fill(missing, plants(1801, 2000), true)
    t.ok(list.isExact)
    list.forget(0, 10)
  }
  const missing = list.missing(1800, 1999)
  if (missing) list.fill(missing, plants(1801, 1950), false)
  t.notOk(list.isExact)
  list.invalidate()
  t.notOk(list.isExact)
})

t.test('changes before the first id of a list are ignored', async (t) => {
  const list = new PlantList({ filter: {}, first: 100n })
  list.append(plants(100, 110), true)
  t.equal(list.apply({ id: 99n, plant: { name: 'x' } }), 'none')
  t.equal(list.apply({ id: 100n, plant: { name: 'x' } }), 'changed')
})

t.test('a plant that no longer matches the filter disappears', async (t) => {
  const list = new PlantList({ filter: { tag: 'Tree', q: 'ab' } })
  list.append([{ id: 1n, name: 'Abies', tag: 'Tree' }], true)
  t.equal(list.apply({ id: 2n, plant: { name: 'Acer', tag: 'Tree' } }), 'none')
  t.equal(list.apply({ id: 2n, plant: { name: 'ABIES', tag: 'Tree' } }), 'added')
  t.equal(list.apply({ id: 1n, plant: { name: 'Abies' } }), 'removed')
  t.same(idsOf(list, 0, 5), [2n])
})

t.test('a search shows matches beyond those found, and finds them once', async (t) => {
  const list = new PlantList({ filter: { q: 'abies' } })
  list.append(plants(1, 10), false)
  t.equal(list.apply({ id: 50n, plant: { name: 'Abies' } }), 'added')
  list.append(plants(11, 60), true)
  t.equal(list.length, 60)
  t.same(idsOf(list, 48, 52), [49n, 50n, 51n, 52n])
})

t.test('a range that others fill is split', async (t) => {
  const list = new PlantList({ filter: {} })
  list.append(
    plants(1, 10).map((plant) => ({ ...plant, id: 1000n * plant.id })),
    true,
  )
  for (let id = 1n; id <= 999n; id++) list.apply({ id, plant: { name: 'x' } })
  t.equal(list.length, 1009)
  for (let id = 1n; id <= 999n; id++) t.equal(list.rank(id), Number(id) - 1)
  list.forget(3000, 3001)
  t.match(list.missing(0, 1), { after: undefined, end: { id: 200n }, count: 200 })
})

t.test('a list that is too high begins with a later id', async (t) => {
  const list = new PlantList({ filter: {} }, 1000)
  for (let first = 1; first <= 1000; first += 200) list.append(plants(first, first + 199), false)
  t.equal(list.first, undefined)
  list.append(plants(1001, 1200), false)
  t.equal(list.first, 801n)
  t.equal(list.length, 400)
  t.same(idsOf(list, 0, 1), [801n])
  t.equal(list.rank(801n), 0)
})
