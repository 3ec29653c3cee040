/** Large reads wait for each other, and not for clients that have gone. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import {
  isSearch,
  type PageRequest,
  type PlantPage,
  type SearchRequest,
} from '../../../service/store/plant-store.ts'
import { Caller, type Service, startService } from '../../helpers/service/service.ts'
import { pageWith } from '../../stores/plants.ts'

/** How many can wait. */
const PLACES = 64

/** A service whose searches run until the test ends them. */
async function startSearches(t: Test) {
  const started: unknown[] = []
  const begun = Promise.withResolvers<void>()
  const end = Promise.withResolvers<PlantPage>()
  const service = await startService(t, {
    instead: {
      list: async (request: PageRequest | SearchRequest) => {
        if (!isSearch(request)) return pageWith([])
        started.push(request.words?.join())
        begun.resolve()
        return end.promise
      },
    },
  })
  const running = search(service, 'running')
  await begun.promise
  return {
    service,
    running,
    started,
    end: () => end.resolve(pageWith([])),
  }
}

const search = (caller: Caller, text: string) =>
  caller.call({ method: 'GET', path: `/plants?q=${text}` })

/** Resolves when the service has received a number of further requests. */
async function receives(service: Service, requests: number): Promise<void> {
  for (let received = 0; received < requests; received++) await once(service.app.server, 'request')
}

/** Sends a search on a connection of its own. Resolves to both ends of the connection when it has been received. */
async function sendSearch(service: Service): Promise<{ client: Socket; server: Socket }> {
  const connected = once(service.app.server, 'connection')
  const client = connect({ port: service.port, host: '127.0.0.1', allowHalfOpen: true })
  const received = receives(service, 1)
  client.write(
    `GET /plants?q=a HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${service.token}\r\n\r\n`,
  )
  const [server] = await connected
  await received
  return { client, server: server as Socket }
}

const departures = [
  {
    departure: 'closes its connection',
    event: 'close',
    leave: (client: Socket) => client.resetAndDestroy(),
  },
  {
    departure: 'half-closes its connection',
    event: 'end',
    leave: (client: Socket) => client.end(),
  },
]

for (const { departure, event, leave } of departures) {
  t.test(`if a client ${departure}, its waiting read is not made`, async (t) => {
    const { service, running, started, end } = await startSearches(t)
    for (let sent = 0; sent < PLACES; sent++) {
      const { client, server } = await sendSearch(service)
      t.teardown(() => client.destroy())
      const noticed = new Promise((resolve) => server.once(event, resolve))
      leave(client)
      await noticed
    }
    const received = receives(service, PLACES)
    const others = Array.from({ length: PLACES }, () => search(service, 'other'))
    await received
    end()
    const statuses = (await Promise.all([running, ...others])).map(({ status }) => status)
    t.strictSame([...new Set(statuses)], [200], 'all places were free again')
    t.equal(started.length, 1 + PLACES)
  })
}

t.test('a token that takes all places makes room for the search of another', async (t) => {
  const { service, running, started, end } = await startSearches(t)
  const token = await service.issueToken('other', ['read'])
  const received = receives(service, PLACES)
  const waiting = Array.from({ length: PLACES }, () => search(service, 'first'))
  await received
  const other = search(new Caller(service.port, token), 'other')
  const json = { error: 50301, message: 'the store is busy' }
  t.match(await Promise.race(waiting), { status: 503, headers: { 'retry-after': '1' }, json })
  t.equal((await service.call({ method: 'GET', path: '/plants' })).status, 200, 'a small read')
  end()
  t.equal((await other).status, 200)
  await Promise.all([running, ...waiting])
  t.strictSame(started.slice(0, 3), ['running', 'first', 'other'])
})
