/** Query parameters that an operation does not define. */

import t from 'tap'
import { importPlants } from '../../../src/transfer/import.ts'
import { type Call, type Service, startService } from '../../helpers/service.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

const plant = { id: 4n, name: 'Abies', tag: 'Tree' }
t.beforeEach(async () => {
  await importPlants(service.store, [plant], 'replace')
})

const WITHOUT_PARAMETERS: Call[] = [
  { method: 'POST', path: '/plants', body: { id: 5n, name: 'Acer' } },
  { method: 'GET', path: '/plants/4' },
  { method: 'PUT', path: '/plants/4', body: { name: 'Acer' } },
  { method: 'PATCH', path: '/plants/4', body: { name: 'Acer' } },
  { method: 'DELETE', path: '/plants/4' },
  { method: 'GET', path: '/token' },
]
const QUERIES: [query: string, name: string][] = [
  ...['x=1', 'x', 'x=1&x=2', 'x&y=1'].map((query): [string, string] => [query, 'x']),
  ...['limit', 'after', 'tag', '__proto__', ''].map((name): [string, string] => [
    `${name}=1`,
    name,
  ]),
  ['%66orce=true', 'force'],
]
for (const call of WITHOUT_PARAMETERS) {
  t.test(`${call.method} ${call.path} rejects every query parameter`, async (t) => {
    const count = await service.count()
    for (const [query, name] of QUERIES) {
      const answer = await service.call({ ...call, path: `${call.path}?${query}` })
      t.equal(answer.status, 400, query)
      const message = `unknown query parameter "${name}": this operation accepts no query parameters`
      t.same(answer.json, { error: 40004, message })
    }
    t.same(await service.stored(4n), plant)
    t.equal(await service.count(), count)
  })

  t.test(`${call.method} ${call.path} accepts an empty query`, async (t) => {
    const { status } = await service.call({ ...call, path: `${call.path}?` })
    t.ok(status < 300)
  })
}

t.test('HEAD rejects the query parameters that GET rejects', async (t) => {
  for (const path of ['/plants?offset=1', '/plants/4?x=1']) {
    t.equal((await service.call({ method: 'HEAD', path })).status, 400, path)
  }
})

t.test('an unknown query parameter is rejected before 100 is sent', async (t) => {
  const headers = { expect: '100-continue', 'content-length': 20 }
  const answer = await service.call({ path: '/plants?x=1', headers })
  t.equal(answer.status, 400)
})
