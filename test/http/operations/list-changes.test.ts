/** GET /changes: pages of changes, and the `Link` to the next one. */

import t from 'tap'
import { contentOf, cursorOf, latestCursor, nextQuery, readPage } from '../../helpers/changes.ts'
import { type Service, startService } from '../../helpers/service.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

const create = (id: number, name = 'Abies', tag?: string) =>
  service.call({ body: { id, name, ...(tag !== undefined && { tag }) } })

const from = (cursor: string, more = '') => `?after=${cursor}${more}`

t.test('an empty store has an empty page with a Link, which leads to later changes', async (t) => {
  const empty = await startService(t)
  const { body, headers } = await readPage(empty)
  t.equal(body, '[]')
  await empty.call({ body: { id: 1, name: 'Abies' } })
  t.match((await readPage(empty, nextQuery(headers))).changes, [{ id: 1n, type: 'created' }])
})

t.test('each change has its cursor, time, type, id and plant', async (t) => {
  const start = await latestCursor(service)
  const before = Date.now()
  await create(1, 'Abies', 'Tree')
  await service.call({ method: 'PUT', path: '/plants/1', body: { name: 'Acer' } })
  await service.call({ method: 'PATCH', path: '/plants/1', body: { tag: '' } })
  await service.call({ method: 'DELETE', path: '/plants/1' })
  const { changes } = await readPage(service, from(start))
  t.strictSame(changes.map(contentOf), [
    { type: 'created', id: 1n, plant: { name: 'Abies', tag: 'Tree' } },
    { type: 'changed', id: 1n, plant: { name: 'Acer' } },
    { type: 'changed', id: 1n, plant: { name: 'Acer', tag: '' } },
    { type: 'removed', id: 1n },
  ])
  for (const { at } of changes) {
    t.match(at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    const time = Date.parse(at)
    // The clocks of the store and of the test can differ by their precision.
    t.ok(time >= before - 1000 && time <= Date.now() + 1000, at)
  }
})

t.test('what changes nothing is no change', async (t) => {
  await create(10, 'Abies', 'Tree')
  const start = await latestCursor(service)
  const path = '/plants/10'
  await create(10, 'Abies', 'Tree')
  await create(10, 'Acer')
  await service.call({ method: 'PUT', path, body: { name: 'Abies', tag: 'Tree' } })
  await service.call({ method: 'PATCH', path, body: {} })
  await service.call({ method: 'PATCH', path, headers: { 'if-match': '"x"' }, body: { tag: 'x' } })
  await service.call({ method: 'DELETE', path, headers: { 'if-match': '"x"' } })
  await service.call({ method: 'DELETE', path: '/plants/404' })
  const conflicting = [
    { id: 11, name: 'Abies' },
    { id: 10, name: 'Acer' },
  ]
  await service.call({ path: '/plants/batch', body: conflicting })
  t.strictSame((await readPage(service, from(start))).changes, [])
})

t.test('the Link keeps limit and wait, and following it reads every change once', async (t) => {
  const start = await latestCursor(service)
  for (let id = 30; id < 37; id++) await create(id)
  const pages: bigint[][] = []
  let query = from(start, '&limit=3&wait=0')
  for (;;) {
    const { changes, headers } = await readPage(service, query)
    pages.push(changes.map(({ id }) => id))
    query = nextQuery(headers)
    const { after: _, ...kept } = Object.fromEntries(new URLSearchParams(query))
    t.strictSame(kept, { limit: '3', wait: '0' })
    if (changes.length === 0) break
    t.equal(cursorOf(query), changes.at(-1)?.cursor)
  }
  t.strictSame(pages, [[30n, 31n, 32n], [33n, 34n, 35n], [36n], []])
})

t.test('the cursor of a change leads to the changes that follow it', async (t) => {
  const start = await latestCursor(service)
  for (const id of [40, 41, 42]) await create(id)
  const { changes } = await readPage(service, from(start))
  for (const [index, { cursor }] of changes.entries()) {
    t.strictSame((await readPage(service, from(cursor))).changes, changes.slice(index + 1))
  }
})

t.test('HEAD has the headers of GET, and never waits', async (t) => {
  const path = '/changes?after=latest&wait=60'
  const { status, headers, body } = await service.call({ method: 'HEAD', path })
  t.match({ status, body }, { status: 200, body: '' })
  t.match(nextQuery(headers), /wait=60/)
})

t.test('Last-Event-ID does not apply to pages', async (t) => {
  await create(50)
  const headers = { 'last-event-id': await latestCursor(service) }
  const { json } = await service.call({ method: 'GET', path: '/changes?limit=1', headers })
  t.match(json, [{ type: 'created' }])
})
