/** Lists of plants in other orders than by id. */
import t from 'tap'
import type { OwnField } from '../../../core/members/own-fields.ts'
import { importPlants } from '../../helpers/plants/import-plants.ts'
import { type Service, startService } from '../../helpers/service/service.ts'

const int32 = { type: 'integer', format: 'int32' } as const

const fields: readonly OwnField[] = [
  { name: 'height', schema: { ...int32, 'x-sortable': true } },
  { name: 'width', schema: int32 },
  { name: 'a b&c', schema: { type: 'string', format: 'date', 'x-sortable': true } },
]

let service: Service
t.before(async () => {
  service = await startService(t, { fields, sortable: ['name', 'tag'] })
})

const read = async (query: string, from = service) => {
  const { status, json, headers } = await from.call({ method: 'GET', path: `/plants${query}` })
  const ids = (json as { id: bigint }[]).map?.(({ id }) => Number(id))
  const [, next] = /^<(\?[^>]+)>/.exec(headers.link ?? '') ?? []
  return { status, json, ids, next, headers }
}

/** The ids on all pages. */
const walk = async (query: string) => {
  const ids: number[] = []
  for (let next: string | undefined = query; next !== undefined; ) {
    const page = await read(next)
    ids.push(...page.ids)
    next = page.next
  }
  return ids
}

t.test('an order is available once its index is complete', async (t) => {
  const message = 'the plants are still being sorted by height; try again later'
  t.match(await read('?sort=-height'), {
    status: 503,
    json: { error: 50305, message },
    headers: { 'retry-after': '1' },
  })
  while (await service.store.indexPlants());
  t.match(await read('?sort=-height'), { status: 200, json: [] })
})

t.test('pages follow each other in every order', async (t) => {
  const plants = [
    { id: 1, name: 'Müller', tag: 'b', height: 5 },
    { id: 2, name: 'muller', height: -3, 'a b&c': '2026-02-01' },
    { id: 3, name: 'abies', tag: 'a', height: 5, 'a b&c': '2025-12-31' },
    { id: 4, name: 'Łódź', tag: '', width: 1 },
    { id: 5, name: 'Abies', tag: 'a' },
    { id: -6, name: 'lodz', height: 40 },
  ]
  for (const body of plants) t.match(await service.call({ body }), { status: 200 })
  for (const [query, ids] of [
    ['', [-6, 1, 2, 3, 4, 5]],
    ['sort=id', [-6, 1, 2, 3, 4, 5]],
    ['sort=-id', [5, 4, 3, 2, 1, -6]],
    ['sort=-id&q=abi', [5, 3]],
    ['sort=-id&tag=a', [5, 3]],
    ['sort=-id&untagged=true', [2, -6]],
    ['sort=-id&min.height=5', [3, 1, -6]],
    ['sort=name', [5, 3, -6, 4, 1, 2]],
    ['sort=-name', [2, 1, 4, -6, 3, 5]],
    ['sort=name&q=l', [-6, 4, 1, 2]],
    ['sort=tag', [4, 3, 5, 1, -6, 2]],
    ['sort=-tag', [1, 5, 3, 4, 2, -6]],
    ['sort=height', [2, 1, 3, -6, 4, 5]],
    ['sort=-height', [-6, 3, 1, 2, 5, 4]],
    ['sort=height&min.height=5', [1, 3, -6]],
    ['sort=-height&max.height=5', [3, 1, 2]],
    ['sort=-height&is.height=40&is.height=5&is.height=7', [-6, 3, 1]],
    ['sort=height&without.height=true&tag=a', [5]],
    ['sort=height&is.width=1', [4]],
    ['sort=a%20b%26c', [3, 2, -6, 1, 4, 5]],
    ['sort=-a%20b%26c&max.a%20b%26c=2026-01-01', [3]],
    ['is.height=5', [1, 3]],
    ['sort=-id&is.height=5', [3, 1]],
    ['is.height=5&q=mull', [1]],
  ] as const) {
    for (const limit of [1, 4, 100]) {
      t.strictSame(await walk(`?limit=${limit}&${query}`), ids, `${query} by ${limit}`)
    }
  }
  t.match((await read('?sort=height&count=true&min.height=5&limit=1')).headers, {
    'plant-count': '3',
  })
})

t.test('a page begins in the place of a plant that has been removed or changed', async (t) => {
  const { next = '' } = await read('?sort=name&limit=2')
  t.match(await service.call({ method: 'DELETE', path: '/plants/3' }), { status: 204 })
  t.strictSame((await read(next)).ids, [-6, 4])
})

t.test('changes of many plants are in their places at once', async (t) => {
  const other = await startService(t, { fields: [], sortable: ['name'] })
  while (await other.store.indexPlants());
  const plants = Array.from({ length: 4000 }, (_, id) => ({
    id: BigInt(id),
    name: `${4000 - id}`.padStart(4, '0'),
  }))
  await importPlants(other.store, plants, 'stop')
  t.strictSame((await read('?sort=name&limit=2', other)).ids, [3999, 3998])
})

t.test('a query that cannot be sorted is refused', async (t) => {
  for (const [query, message] of [
    [
      'sort=width',
      'the query parameter sort must be id, -id, name, -name, tag, -tag, height, -height, a b&c or -a b&c (the operator makes other properties sortable by x-sortable)',
    ],
    ['sort=', /must be id/],
    ['sort=name&sort=id', 'the query parameter sort must not be repeated'],
    ['sort=name&id=4', 'the query parameter id cannot be combined with sort'],
    [
      'sort=name&after=4',
      'the query parameter after requires afterKey if sort is not id or -id: follow Link',
    ],
    [
      'afterKey=AA&after=4',
      'the query parameter afterKey requires after, and sort by another property than id',
    ],
    [
      'afterKey=AA&sort=name',
      'the query parameter afterKey requires after, and sort by another property than id',
    ],
    ['afterKey=.&after=4&sort=name', /afterKey must be a key from Link/],
  ] as const) {
    t.match(await read(`?${query}`), { status: 400, json: { message } }, query)
  }
  const plain = await startService(t)
  t.match(await read('?sort=name', plain), { status: 400 })
  t.match(await read('?sort=-id', plain), { status: 200 })
})
