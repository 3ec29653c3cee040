/** Long reads wait for each other, and not for clients that have gone. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { AccessTokens } from '../../../service/access-tokens.ts'
import type { PlantPage, SearchRequest } from '../../../service/plant-store.ts'
import type { AcquireSlot } from '../../../service/short-read.ts'
import { Caller, type Service, startService } from '../../helpers/service.ts'
import { pageWith } from '../../stores/plants.ts'

/** How many can wait. */
const PLACES = 64

/** A service whose searches run until the test ends them. Those for `late` wait for `proceed` before they are long. */
async function startSearches(t: Test) {
  const late = Promise.withResolvers<void>()
  const refused = Promise.withResolvers<Error>()
  const started: string[] = []
  const begun = Promise.withResolvers<void>()
  const end = Promise.withResolvers<PlantPage>()
  const service = await startService(t, {
    instead: {
      search: async ({ text }: SearchRequest, acquireSlot?: AcquireSlot) => {
        if (text === 'late') {
          await late.promise
          await acquireSlot?.().catch(refused.resolve)
        } else await acquireSlot?.()
        started.push(text)
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
    proceed: () => late.resolve(),
    refused: refused.promise,
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
async function sendSearch(
  service: Service,
  text = 'a',
): Promise<{ client: Socket; server: Socket }> {
  const connected = once(service.app.server, 'connection')
  const client = connect({ port: service.port, host: '127.0.0.1', allowHalfOpen: true })
  const received = receives(service, 1)
  client.write(
    `GET /plants?q=${text} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${service.token}\r\n\r\n`,
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

  t.test(`if a client ${departure} before its read is long, it does not wait`, async (t) => {
    const { service, running, proceed, refused, end } = await startSearches(t)
    const { client, server } = await sendSearch(service, 'late')
    t.teardown(() => client.destroy())
    const noticed = new Promise((resolve) => server.once(event, resolve))
    leave(client)
    await noticed
    proceed()
    t.equal((await refused).message, 'the store is busy: the client has disconnected')
    end()
    t.equal((await running).status, 200)
  })
}

t.test('beside a token that takes all places, the search of another is next', async (t) => {
  const { service, running, started, end } = await startSearches(t)
  const issued = await new AccessTokens(service.store).issue({ name: 'other', scopes: ['read'] })
  const received = receives(service, PLACES + 1)
  const waiting = Array.from({ length: PLACES + 1 }, () => search(service, 'first'))
  await received
  t.match(
    await Promise.race(waiting),
    {
      status: 503,
      headers: { 'retry-after': '1' },
      json: { error: 50301, message: 'the store is busy' },
    },
    'one too many is refused immediately',
  )
  t.equal((await service.call({ method: 'GET', path: '/plants' })).status, 200, 'a short read')
  const twoRefused = Promise.withResolvers<void>()
  let answers = 0
  for (const answer of waiting) {
    answer.then(() => {
      answers++
      if (answers === 2) twoRefused.resolve()
    })
  }
  const other = search(new Caller(service.port, issued as string), 'other')
  await twoRefused.promise
  end()
  t.equal((await other).status, 200)
  t.equal((await running).status, 200)
  t.strictSame(started.slice(0, 3), ['running', 'first', 'other'])
  const statuses = (await Promise.all(waiting)).map(({ status }) => status)
  t.equal(statuses.filter((status) => status === 503).length, 2, 'the latest made room')
})
