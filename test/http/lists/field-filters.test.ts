/** Lists of plants that are selected by their own fields. */
import t from 'tap'
import type { OwnField } from '../../../core/members/own-fields.ts'
import { READS_MAX } from '../../../service/read-jobs.ts'
import { SEARCH_MAX } from '../../../service/store/plant-store.ts'
import { importPlants } from '../../helpers/plants/import-plants.ts'
import { nursery } from '../../helpers/plants/nursery.ts'
import { type Service, startService } from '../../helpers/service/service.ts'

/** Names that a query or JSON Pointer must escape, and one that looks like a parameter. */
const NAMES = ['a b&c', 'a=b', 'Höhe/~1%2F+', 'is.light', 'constructor', '"\\', '🌱']

const fields: readonly OwnField[] = [
  ...nursery,
  ...NAMES.map((name) => ({ name, schema: { type: 'integer', format: 'int32' } }) as const),
]

let service: Service
t.before(async () => {
  service = await startService(t, { fields })
})

const read = async (query: string, from = service) => {
  const { status, json, headers } = await from.call({ method: 'GET', path: `/plants?${query}` })
  const ids = (json as { id: bigint }[]).map?.(({ id }) => Number(id))
  return { status, json, ids, link: headers.link, count: headers['plant-count'] }
}

const encode = encodeURIComponent

t.test('plants are selected by the values of their fields', async (t) => {
  const plants = [
    { id: 1, name: 'Abies', tag: 'Tree', height: 120, light: 'sun', price: 0.5, inStock: true },
    { id: 2, name: 'Acer', height: 90, light: 'shade', price: 24, inStock: false },
    { id: 3, name: 'Abelia', planted: '2026-11-25', serial: 2n ** 63n - 1n, note: 'a,b' },
    { id: 4, name: 'Pinus', planted: '2026-11-26', serial: 2n ** 63n - 2n, note: '"height":120' },
    { id: 5, name: 'Larix', watered: '2026-11-25T23:30:00-01:00', grower: 'flora@example.com' },
    { id: 6, name: 'Salix' },
  ]
  for (const body of plants) t.match(await service.call({ body }), { status: 200 })
  for (const [query, ...ids] of [
    ['is.height=120', 1],
    ['is.height=120&is.height=90&is.height=0', 1, 2],
    ['is.light=sun', 1],
    ['is.light=sun&is.light=shade&q=ace', 2],
    ['is.light=sun&tag=Tree', 1],
    ['is.light=sun&untagged=true'],
    ['min.height=91', 1],
    ['max.height=90', 2],
    ['min.height=90&max.height=120', 1, 2],
    ['min.height=-5&is.height=7'],
    ['is.price=5e-1', 1],
    ['min.price=0.6&max.price=1e2', 2],
    ['is.inStock=false', 2],
    ['is.inStock=false&is.inStock=true&without.planted=true', 1, 2],
    [`is.serial=${2n ** 63n - 1n}`, 3],
    [`max.serial=${2n ** 63n - 2n}`, 4],
    ['is.planted=2026-11-25', 3],
    ['min.planted=2026-11-25&max.planted=2026-11-25', 3],
    ['is.watered=2026-11-26T00:30:00.000Z', 5],
    [`min.watered=${encode('2026-11-26T01:30:00.1+01:00')}`],
    ['is.grower=flora%40example.com', 5],
    ['is.note=a,b', 3],
    [`is.note=${encode('"height":120')}`, 4],
    ['is.note='],
    ['without.height=true', 3, 4, 5, 6],
    ['without.height=true&without.planted=true&without.watered=true', 6],
  ] as const) {
    const { ids: found, count } = await read(`${query}&count=true`)
    t.strictSame([found, count], [ids, String(ids.length)], query)
    t.strictSame(
      (await read(`${query}&after=1`)).ids,
      ids.filter((id) => id > 1),
    )
  }
})

t.test('a field can have any name, and the link to the next page encodes it', async (t) => {
  for (const [index, name] of NAMES.entries()) {
    const first = 100 + 3 * index
    for (const id of [first, first + 1, first + 2])
      await service.call({ body: { id, name: 'x', [name]: id } })
    const query = `min.${encode(name)}=${first}&is.${encode(name)}=${first}&is.${encode(name)}=${first + 2}`
    const page = await read(`${query}&limit=1`)
    t.strictSame(page.ids, [first], name)
    const next = new URL(page.link?.slice(1, page.link.indexOf('>')) ?? '', 'http://x/plants')
    t.strictSame(
      [...next.searchParams],
      [
        [`min.${name}`, `${first}`],
        [`is.${name}`, `${first}`],
        [`is.${name}`, `${first + 2}`],
        ['limit', '1'],
        ['after', `${first}`],
      ],
    )
    t.strictSame((await read(next.search.slice(1))).ids, [first + 2])
  }
})

const UNKNOWN = (name: string) =>
  `unknown query parameter "${name}": this operation accepts limit, after, sort, tag, untagged, q, id, count, and filters by the own fields of the contract`
const THE = (rest: string) => `the query parameter ${rest}`

const REJECTED: readonly (readonly [message: string, ...queries: string[]])[] = [
  ...['is.weight', 'is', 'is.', '.height', 'IS.height', 'between.height', 'min.light'].map(
    (name) => [UNKNOWN(name), `${name}=1`] as const,
  ),
  [UNKNOWN('is.name'), 'is.name=Abies'],
  [UNKNOWN('max.inStock'), 'max.inStock=true'],
  [THE('is.height must be an integer'), 'is.height=', 'is.height=1&is.height=1.5'],
  [THE('max.height must be an integer'), 'max.height=2147483648', 'max.height=1e3'],
  [THE('min.serial must be an int64 in decimal'), `min.serial=${2n ** 63n}`, 'min.serial=01'],
  [
    THE('is.price must be a number that a double preserves'),
    ...['', '1,5', 'NaN', '1e400', '0.10000000000000000001'].map((value) => `is.price=${value}`),
  ],
  [THE('is.light must be sun, half shade or shade'), 'is.light=Sun', 'is.light=sun&is.light='],
  [THE('is.inStock must be boolean'), 'is.inStock=1', 'is.inStock=TRUE'],
  [THE('min.planted must be a date such as 2026-11-25'), 'min.planted=2026-02-30'],
  [
    THE('max.watered must be a date and time such as 2026-11-25T23:40:00Z'),
    'max.watered=2026-11-25',
    'max.watered=2026-11-25T23:40:00+01:00',
  ],
  [THE('is.grower must be an email address such as flora@example.com'), 'is.grower=flora'],
  [THE('is.note must not contain U+0000 or a lone surrogate'), 'is.note=a%00'],
  [THE('without.note must be true'), 'without.note=false', 'without.note'],
  [THE('min.height must not be repeated'), 'min.height=1&min.height=1'],
  [
    THE('is.height must not be repeated more than 200 times'),
    Array.from({ length: 201 }, () => 'is.height=1').join('&'),
  ],
  [THE('is.Höhe/~1%2F+ must be an integer'), `is.${encode('Höhe/~1%2F+')}=x`],
  [THE('without.height cannot be combined with is.height'), 'is.height=1&without.height=true'],
  [THE('without.height cannot be combined with max.height'), 'without.height=true&max.height=1'],
  [THE('min.height must not exceed max.height'), 'min.height=2&max.height=1'],
  [
    THE('min.watered must not exceed max.watered'),
    'min.watered=2026-11-25T23:00:00-01:00&max.watered=2026-11-25T23:59:60Z',
  ],
  [THE('id cannot be combined with min.height'), 'id=4&min.height=1'],
  [THE('id cannot be combined with without.note'), 'without.note=true&id=4'],
]

t.test('invalid, unknown and contradictory filters are rejected by name', async (t) => {
  for (const [message, ...queries] of REJECTED) {
    for (const query of queries) {
      const { status, json } = await read(query)
      t.strictSame([status, json], [400, { error: 40004, message }], query.slice(0, 60))
    }
  }
})

t.test('a filter that cannot examine all plants is continued, and counted at least', async (t) => {
  const large = await startService(t, { fields })
  const examined = READS_MAX * SEARCH_MAX.plants
  const many = Array.from({ length: examined + 1 }, (_, id) => ({
    id: BigInt(id),
    name: 'x',
    fields: `"height":${id === examined ? 1 : 0}`,
  }))
  await importPlants(large.store, many, 'stop')
  const query = 'min.height=1&count=true'
  const first = await read(query, large)
  t.strictSame([first.ids, first.count], [[], '0;at-least'])
  const next = first.link?.slice(2, first.link.indexOf('>')) ?? ''
  t.strictSame((await read(next, large)).ids, [examined])
})
