/** GET /changes: pages of changes, and the `Link` to the next one. */

import t from 'tap'
import { cursorOf, latestCursor, nextQuery, readPage } from '../../helpers/plants/changes.ts'
import { type Service, startService } from '../../helpers/service/service.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

const create = (id: number) => service.call({ body: { id, name: 'Abies' } })

t.test('an empty store has an empty page with a Link, which leads to later changes', async (t) => {
  const empty = await startService(t)
  const { body, headers } = await readPage(empty)
  t.equal(body, '[]')
  await empty.call({ body: { id: 1, name: 'Abies' } })
  t.match((await readPage(empty, nextQuery(headers))).changes, [{ id: 1n, type: 'created' }])
})

t.test('the Link keeps limit and wait, and following it reads every change once', async (t) => {
  const start = await latestCursor(service)
  for (let id = 30; id < 37; id++) await create(id)
  const pages: bigint[][] = []
  let query = `?after=${start}&limit=3&wait=0`
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
