/** PUT and PATCH /plants/{id}. */

import t, { type Test } from 'tap'
import { importPlants } from '../../helpers/plants/import-plants.ts'
import { type Call, type Service, startService } from '../../helpers/service/service.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

const ID = 9007199254740993n
const PATH = `/plants/${ID}`

/** Resets the plant, which the tests change. */
t.beforeEach(async () => {
  await importPlants(service.store, [{ id: ID, name: 'Abies', tag: 'Tree' }], 'replace')
})

const put = (body: unknown, call: Call = {}) =>
  service.call({ method: 'PUT', path: PATH, body, ...call })
const patch = (body: unknown, call: Call = {}) =>
  service.call({ method: 'PATCH', path: PATH, body, ...call })
const etagNow = async () => (await service.call({ method: 'GET', path: PATH })).headers.etag

t.test('the entity tag of a PUT is that of the plant, for the next change', async (t) => {
  // Longer ones are hashed.
  for (const name of ['Acer', 'x'.repeat(100)]) {
    const { headers } = await put({ name })
    t.match(headers, { etag: await etagNow(), 'cache-control': 'no-cache' })
    t.equal((await put({ name: 'Abies' }, { headers: { 'if-match': headers.etag } })).status, 200)
    t.equal((await put({ name: 'Larix' }, { headers: { 'if-match': headers.etag } })).status, 412)
  }
})

t.test('a PUT has no entity tag if a property was ignored (RFC 9110 §9.3.4)', async (t) => {
  for (const ignored of [
    { colour: 'green' },
    { ifMatch: '"x"' },
    { op: 'replace' },
    { '': null },
  ]) {
    const { status, headers } = await put({ ...ignored, name: 'Acer' })
    t.match({ status, ...headers }, { status: 200, etag: undefined, 'cache-control': 'no-store' })
  }
  t.ok((await put(`{ "tag":"T\\u0072ee", "name":"Acer", "id":${ID}.0 }`)).headers.etag)
})

t.test('a token that cannot read gets the entity tag of what it has sent', async (t) => {
  const token = await service.issueToken('writer', ['write'])
  t.equal((await put({ name: 'Acer' }, { token })).headers.etag, '"name=Acer"')
})

t.test('PUT and PATCH reject another id, and leave both plants unchanged', async (t) => {
  // The closest double is the id of the path.
  const other = ID - 1n
  await importPlants(service.store, [{ id: other, name: 'Other' }], 'replace')
  for (const change of [put, patch]) {
    const answer = await change({ id: other, name: 'Acer' })
    await assertUntouched(t, 400, answer)
    const message = `body/id is ${other}, but the path has the id ${ID}`
    t.same(answer.json, { error: 40005, message })
    t.match(await service.stored(other), { name: 'Other' })
  }
})

t.test(
  'another id in the body is reported before a missing plant or a failed If-Match',
  async (t) => {
    for (const method of ['PUT', 'PATCH']) {
      const body = { id: 5n, name: 'Acer' }
      t.equal((await service.call({ method, path: '/plants/404', body })).status, 400)
      const headers = { 'if-match': '"other"' }
      t.equal((await service.call({ method, path: PATH, body, headers })).status, 400)
    }
  },
)

async function assertUntouched(t: Test, status: number, answer: { status: number; body: string }) {
  t.equal(answer.status, status, answer.body)
  t.same(await service.stored(ID), { id: ID, name: 'Abies', tag: 'Tree' })
}
