/** Lists that are sorted by a member, and the filters and orders of the page's URL. */
import t, { type Test } from 'tap'
import { createClient, type StoredPlant } from '../../../client/client.ts'
import { extendContract, loadContract, sortableMembers } from '../../../core/contract/contract.ts'
import { describeCondition } from '../../../page/forms/condition-text.ts'
import { type Condition, conditionsOf, removeCondition } from '../../../page/list/field-filter.ts'
import { matches, parseFragment, toFragment, withFilter } from '../../../page/list/filter.ts'
import { PlantList } from '../../../page/list/plant-list.ts'
import { nextSort } from '../../../page/list/plant-order.ts'
import { IdRanges } from '../../../page/selection/id-ranges.ts'
import { countSelected, rangesBetween } from '../../../page/selection/selected-count.ts'
import { startService } from '../../helpers/service/service.ts'
import { describeService, FIELDS, FIR } from './nursery.ts'

const SORTABLE = FIELDS.map(({ name, schema }) => ({
  name,
  schema: { ...schema, ...(name !== 'photo' && { 'x-sortable': true }) },
}))

const CONTRACT = extendContract(loadContract(), SORTABLE, ['name'])

const PLANTS: readonly (StoredPlant & { readonly [name: string]: unknown })[] = [
  { id: 1n, name: 'Über', height: 10, price: 1.5, light: 'sun', id2: -(2n ** 63n) },
  { id: 2n, name: 'uber', height: 5, price: 0, light: 'shade', id2: 2n ** 63n - 1n },
  { id: 3n, name: 'Acer', height: 10, price: 20, planted: '2026-03-21' },
  { id: 4n, name: 'acer 🌱', planted: '2025-12-01', inStock: true },
  { id: 5n, name: 'acer \uffff', price: 0.5, constructor: '' },
  { id: 6n, name: 'x'.repeat(200), height: 0, inStock: false },
  { id: 7n, name: `${'x'.repeat(199)}a`, height: 10 },
]

async function startSorted(t: Test) {
  const service = await startService(t, { fields: SORTABLE, sortable: ['name'] })
  describeService(t, CONTRACT)
  const { url, token } = service
  const client = createClient({ url, token, int64Fields: ['id2'] })
  await client.createPlants(PLANTS)
  while (await service.store.indexPlants());
  return client
}

const idsOf = (list: PlantList) => list.slice(0, list.length).map((plant) => plant?.id)

t.test('the page sorts as the service does, and asks for what follows a plant', async (t) => {
  const client = await startSorted(t)
  for (const { name } of [{ name: 'id' }, ...sortableMembers(CONTRACT)]) {
    for (const sort of [name, `-${name}`]) {
      const list = new PlantList({ filter: {}, sort })
      const { plants } = await client.listPlants({ ...list.order.query(undefined) })
      // As they are added by others.
      list.append([], true)
      for (const plant of PLANTS) list.apply({ id: plant.id, plant })
      t.strictSame(
        idsOf(list),
        plants.map(({ id }) => id),
        sort,
      )
      for (const [index, plant] of plants.entries()) {
        const rest = await client.listPlants(list.order.query(list.order.placeOf(plant)))
        t.strictSame(rest.plants, plants.slice(index + 1), `${sort} after ${plant.id}`)
      }
    }
  }
})

const byHeight = () => {
  const list = new PlantList({ filter: {}, sort: 'height' })
  const plants = Array.from({ length: 4000 }, (_, index) => ({
    id: BigInt(4000 - index),
    name: 'Abies',
    height: index * 10,
  }))
  for (let start = 0; start < 4000; start += 200) {
    list.append(plants.slice(start, start + 200), start === 3800)
  }
  return list
}

t.test('a plant moves to its place when it changes', async (t) => {
  describeService(t, CONTRACT)
  const list = byHeight()
  const change = (id: bigint, height: number) =>
    list.apply({ id, plant: { ...FIR, height, name: 'moved' } as { name: string } })
  t.equal(change(4000n, 25), 'changed')
  t.strictSame(
    list.slice(0, 4).map((plant) => plant?.id),
    [3999n, 3998n, 4000n, 3997n],
  )
  t.equal(list.rank(4000n), 2)
  t.equal(list.length, 4000)
  t.equal(list.apply({ id: 3998n }), 'removed')
  t.equal(list.rank(3998n), 1, 'the place where it was')
  t.equal(list.rankOf({ id: 4000n, name: 'before its change', height: 0 } as StoredPlant), 0)
  t.equal(list.apply({ id: 3998n }), 'none')
  t.ok(list.isExact)

  list.forget(0, 20)
  t.equal(list.find(10n), undefined)
  t.equal(change(3997n, 39_500), 'removed', 'to where nothing is in memory')
  t.notOk(list.isExact)
  const missing = list.missing(3000, 3001)
  t.match(list.order.query(missing?.after), { sort: 'height', afterKey: /^[\w-]+$/ })
  if (missing === undefined) return
  const { id } = missing.end
  const filled = { id, name: 'filled', height: Number(4000n - id) * 10 }
  list.fill(missing, [filled], true)
  t.strictSame(list.find(id), filled)
  t.notOk(list.isExact, 'the others may have changed')
})

t.test('a response that is older than a change does not bring a plant back', async (t) => {
  describeService(t, CONTRACT)
  const list = new PlantList({ filter: {}, sort: 'height' })
  const plants = Array.from({ length: 10 }, (_, index) => ({
    id: BigInt(index),
    name: 'Abies',
    height: index * 10,
  }))
  list.append(plants.slice(0, 5), false)
  const change = { id: 8n, plant: { name: 'Abies', height: 15 } as { name: string } }
  list.apply(change)
  list.append(plants.slice(5), true)
  list.apply(change)
  t.strictSame(idsOf(list), [0n, 1n, 8n, 2n, 3n, 4n, 5n, 6n, 7n, 9n])
})

t.test('plants of a sorted list are selected one by one', async (t) => {
  describeService(t, CONTRACT)
  const list = byHeight()
  t.strictSame(rangesBetween(list, 3990n, 3992n), [
    { from: 3992n, to: 3992n },
    { from: 3991n, to: 3991n },
    { from: 3990n, to: 3990n },
  ])
  const some = IdRanges.NONE.add(1n, 5n).add(9999n, 9999n)
  t.strictSame(countSelected(some, list, undefined), { plants: 5, isExact: true })
  list.forget(0, 20)
  t.equal(rangesBetween(list, 3990n, 3n), undefined)
  t.strictSame(countSelected(some, list, undefined), { plants: 6, isExact: true })
  const total = { plants: 4000, isExact: true }
  const others = IdRanges.ALL.remove(3n, 4n)
  t.strictSame(countSelected(others, list, total), { plants: 3998, isExact: true })
  t.equal(countSelected(others, list, undefined), undefined)
})

t.test('clicks sort by a column, reverse the order, and return to that by id', async (t) => {
  t.equal(nextSort(undefined, 'name'), 'name')
  t.equal(nextSort('name', 'name'), '-name')
  t.equal(nextSort('-name', 'name'), undefined)
  t.equal(nextSort('-height', 'name'), 'name')
  t.equal(nextSort(undefined, 'id'), '-id')
  t.equal(nextSort('-id', 'id'), undefined)
  t.equal(nextSort('name', 'id'), undefined)
})

t.test('the URL keeps the order and the conditions', async (t) => {
  for (const fragment of [
    '#q=abies&tag=&sort=-name&is.light=sun&is.light=&min.height=10&max.height=20',
    '#untagged=true&from=7&without.constructor=true&is.__proto__=x&min.a.b=%26',
    '#sort=constructor',
  ]) {
    t.equal(toFragment(parseFragment(fragment)), fragment)
  }
  for (const [fragment, same] of [
    ['#sort=id&from=7', '#from=7'],
    ['#sort=name&from=7', '#sort=name'],
    ['#min.height=1&is.light=sun&min.height=2&is.light=sun', '#min.height=2&is.light=sun'],
    ['#without.height=no', '#without.height=true'],
    ['#min.height=1&without.height=true', '#without.height=true'],
    ['#without.height=true&min.height=1', '#min.height=1'],
    ['#unknown=1&of.height=2&.=3&is=4', '#'],
  ] as const) {
    t.equal(toFragment(parseFragment(fragment)), same)
  }
})

t.test('another filter keeps the order, and begins with the first plant', async (t) => {
  for (const [fragment, expected] of [
    ['#q=abies&sort=-name', '#tag=x&sort=-name'],
    ['#q=abies&from=7', '#tag=x'],
  ] as const) {
    t.equal(toFragment(withFilter(parseFragment(fragment), { tag: 'x' })), expected)
  }
})

t.test('a condition is described with the titles of its field and values', async (t) => {
  describeService(t, CONTRACT)
  const { filter } = parseFragment(
    `#min.height=10&max.price=2&is.light=sun&is.light=&is.inStock=true&without.planted=true&is.gone=${'x'.repeat(99)}`,
  ).filter
  t.strictSame(conditionsOf(filter).map(describeCondition), [
    'Height in cm is at least 10',
    'price is at most 2',
    'light is sun or Empty',
    'In stock is Yes',
    'Planted on has no value',
    `gone is ${'x'.repeat(60)}…`,
  ])
})

t.test('a condition is removed', async (t) => {
  const { filter } = parseFragment('#is.light=sun&is.light=shade&min.height=1&max.height=2').filter
  const [light, min, max] = conditionsOf(filter) as [Condition, Condition, Condition]
  t.strictSame(light, { kind: 'is', name: 'light', values: ['sun', 'shade'] })
  t.strictSame(conditionsOf(removeCondition(filter, min)), [light, max])
  t.equal(removeCondition({ light: 'absent' }, { kind: 'without', name: 'light' }), undefined)
})

t.test('a change by others is shown if the plant meets the conditions', async (t) => {
  describeService(t, CONTRACT)
  for (const [fragment, isMatch] of [
    ['#min.height=120&max.height=120&is.light=sun&is.light=half+shade', true],
    ['#max.price=24.4', false],
    ['#min.planted=2026-03-22', false],
    ['#is.inStock=false', true],
    ['#is.id2=9007199254740993', true],
    ['#is.id2=9007199254740992', false],
    ['#without.height=true', false],
    ['#min.height=tall', false],
    ['#is.light=sun&is.height=tall', false],
    ['#without.unknown=true', false],
  ] as const) {
    t.equal(matches(FIR, parseFragment(fragment).filter), isMatch, fragment)
  }
  t.ok(matches({ name: 'Abies' }, parseFragment('#without.constructor=true').filter))
})
