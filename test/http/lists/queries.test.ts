/** Query parameters that operations reject. */
import t from 'tap'
import { type Call, type Service, startService } from '../../helpers/service/service.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
  await service.call({ body: { id: 4n, name: 'Abies', tag: 'Tree' } })
})

const LIMIT = 'the query parameter limit must be an integer from 1 to 1000'
const INT64 = (name: string) => `the query parameter ${name} must be an int64 in decimal`
const REPEATED = (name: string) => `the query parameter ${name} must not be repeated`
const STRING = (name: string) =>
  `the query parameter ${name} must not contain U+0000 or a lone surrogate`
const LONG = (name: string, max: number) =>
  `the query parameter ${name} must not have more than ${max} characters`
const UNKNOWN = (name: string) =>
  `unknown query parameter "${name}": this operation accepts limit, after, sort, tag, untagged, q, id, count`
const ALONE = 'the query parameter id cannot be combined with q, tag, untagged or count'
const POSITION = 'the query parameter after must be a position from a Link header'

const REJECTED: Record<string, (readonly [message: string, ...queries: string[]])[]> = {
  '/plants': [
    [LIMIT, 'limit', 'limit=', 'limit=0', 'limit=-1', 'limit=1001', 'limit=1e1', 'limit=1.0'],
    [LIMIT, 'limit=+1', 'limit=01', 'limit=0x1', 'limit=%201', 'limit=1%20', 'limit=%D9%A3'],
    [INT64('after'), 'after=', 'after=1.0', 'after=1e1', 'after=-0', 'after=+1', 'after=01'],
    [INT64('after'), `after=${2n ** 63n}`, `after=${-(2n ** 63n) - 1n}`],
    [INT64('id'), 'id', 'id=4&id=05', 'id=4,5'],
    [REPEATED('limit'), 'limit=1&limit=1', 'id=4&limit=1&limit=1'],
    [REPEATED('tag'), 'tag=a&after=1&tag=a'],
    [REPEATED('count'), 'count=true&count=true'],
    [REPEATED('q'), 'q=a&q=b'],
    ['the query parameter id must not be repeated more than 200 times', 'id=4&'.repeat(201)],
    ...['offset', 'Limit', 'tag[]', '__proto__', 'toString'].map(
      (name) => [UNKNOWN(name), `${name}=5`] as const,
    ),
    ...['untagged', 'count'].map(
      (name) =>
        [
          `the query parameter ${name} must be true`,
          ...['', 'false', '1', 'TRUE', 'true%20'].map((value) => `${name}=${value}`),
        ] as const,
    ),
    ['the query parameter untagged cannot be combined with tag', 'tag=&untagged=true'],
    [ALONE, 'id=4&tag=Tree', 'id=4&untagged=true', 'id=4&count=true', 'q=a&id=1'],
    ['the query parameter q must not be empty', 'q', 'q='],
    [
      'the query parameter q must contain a word, not only spaces, diacritics and invisible characters',
      ...['q=+', 'q=%C2%A0', 'q=%E2%80%8B', 'q=%CC%81&tag=Tree'],
    ],
    [STRING('tag'), 'tag=%00'],
    [STRING('q'), 'q=a%00'],
    [LONG('tag', 1000), `tag=${encodeURIComponent('🌲'.repeat(1000))}x`],
    [LONG('q', 100), `q=${'x'.repeat(101)}`],
  ],
  '/tags': [
    [LIMIT, 'limit=0'],
    [POSITION, 'after=', 'after=Tree'],
    [STRING('after'), 'after=%00'],
    [LONG('after', 5344), `after=${'x'.repeat(5345)}`],
    [REPEATED('after'), 'after=a&after=b'],
    ['unknown query parameter "q": this operation accepts limit, after', 'q=a'],
  ],
  '/changes': [
    [LIMIT, 'limit=0', 'limit=1001'],
    ['the query parameter wait must be an integer from 0 to 60', 'wait=-1', 'wait=61', 'wait=x'],
    [LONG('after', 100), `after=${'A'.repeat(101)}`],
    ['unknown query parameter "since": this operation accepts limit, after, wait', 'since=1'],
  ],
}
for (const [path, rejected] of Object.entries(REJECTED)) {
  t.test(`invalid parameters of ${path} are rejected`, async (t) => {
    for (const [message, ...queries] of rejected) {
      for (const query of queries) {
        const target = `${path}?${query}`.replace(/&$/, '')
        const { status, json } = await service.call({ method: 'GET', path: target })
        t.strictSame([status, json], [400, { error: 40004, message }], query.slice(0, 40))
      }
    }
  })
}

t.test('a query that is not UTF-8 is rejected', async (t) => {
  for (const query of ['tag=%', 'tag=%zz', 'tag=%ff', 'tag=%ed%a0%80', '%c0=1']) {
    const { json } = await service.call({ method: 'GET', path: `/plants?${query}` })
    t.same(json, { error: 40003, message: 'the query is not valid percent-encoded UTF-8' }, query)
  }
})

const WITHOUT_PARAMETERS: Call[] = [
  { method: 'POST', path: '/plants', body: { id: 4n, name: 'Abies', tag: 'Tree' } },
  { method: 'GET', path: '/plants/4' },
  { method: 'PUT', path: '/plants/4', body: { name: 'Acer' } },
  { method: 'PATCH', path: '/plants/4', body: { name: 'Acer' } },
  { method: 'GET', path: '/token' },
  { method: 'DELETE', path: '/plants/4' },
]
const QUERIES: [query: string, name: string][] = [
  ...['x=1', 'x', 'x=1&x=2', 'x&y=1'].map((query): [string, string] => [query, 'x']),
  ...['limit', '__proto__', ''].map((name): [string, string] => [`${name}=1`, name]),
  ['%66orce=true', 'force'],
]
for (const call of WITHOUT_PARAMETERS) {
  t.test(`${call.method} ${call.path} rejects every parameter, and no empty query`, async (t) => {
    const before = await service.stored(4n)
    for (const [query, name] of QUERIES) {
      const answer = await service.call({ ...call, path: `${call.path}?${query}` })
      const message = `unknown query parameter "${name}": this operation accepts no query parameters`
      t.same(answer.json, { error: 40004, message })
    }
    t.same(await service.stored(4n), before)
    t.ok((await service.call({ ...call, path: `${call.path}?` })).status < 300)
  })
}

t.test('an unknown query parameter is rejected before 100 is sent', async (t) => {
  const headers = { expect: '100-continue', 'content-length': 20 }
  t.equal((await service.call({ path: '/plants?x=1', headers })).status, 400)
})
