import { once } from 'node:events'
import { Agent, request } from 'node:http'
import Sqlite from 'better-sqlite3'
import t, { type Test } from 'tap'
import type { CreateResult } from '../../../service/plant-store.ts'
import { type Answer, checkAnswer } from '../../helpers/contract-check.ts'
import { type Service, startService } from '../../helpers/service.ts'

/** A service whose reads work and whose changes wait for `release`. */
async function startHeldService(t: Test) {
  // The clock stands still, so no request is rejected because it has waited too long.
  const service = await startService(t, {
    inFile: true,
    config: { lockTimeout: 60_000 },
    clock: { monotonic: () => 0 },
  })
  await service.call({ body: { id: 0, name: 'before' } })
  const holder = new Sqlite(service.database)
  t.teardown(() => holder.close())
  holder.exec('BEGIN IMMEDIATE')
  const first = service.store.create({ id: 1n, name: 'first' })
  return { service, first, release: () => holder.exec('COMMIT') }
}

const FULL_QUEUES = [
  { of: 'changes', room: 9999, name: 'x' },
  { of: 'bytes', room: 64, name: 'x'.repeat(2 ** 20) },
]

for (const { of, room, name } of FULL_QUEUES) {
  t.test(`beyond the limit on waiting ${of}, a change is rejected immediately`, async (t) => {
    const { service, first, release } = await startHeldService(t)
    const waiting: Promise<CreateResult>[] = []
    for (let id = 2; id < room + 2; id++) {
      waiting.push(service.store.create({ id: BigInt(id), name }))
    }
    let answered = 0
    for (const change of [first, ...waiting]) change.then(() => answered++)
    for (const { method, path, body } of [
      { method: 'POST', path: '/plants', body: { id: -1, name: 'rejected' } },
      { method: 'PUT', path: '/plants/0', body: { name: 'rejected' } },
      { method: 'PATCH', path: '/plants/0', body: { name: 'rejected' } },
      { method: 'DELETE', path: '/plants/0' },
    ]) {
      const { status, headers } = await service.call({ method, path, body })
      t.equal(status, 503, method)
      t.equal(headers['retry-after'], '1')
    }
    const read = await service.call({ method: 'GET', path: '/plants/0' })
    t.match(read, { status: 200, json: { name: 'before' } }, 'reads still work')
    const live = await service.call({ method: 'GET', path: '/health/live', token: null })
    t.equal(live.status, 200)
    t.equal(answered, 0, 'the others are still waiting')

    release()
    t.same(new Set(await Promise.all([first, ...waiting])), new Set(['created']))
    t.equal(await service.count(), room + 2, 'waiting changes are stored and rejected ones are not')
    t.equal((await service.call({ body: { id: -1, name: 'rejected' } })).status, 200)
  })
}

/** More than the system's queue of new connections can hold (511). `npm run test:connections` opens 2000. */
const CONNECTIONS = Number(process.argv[2] ?? 600)

/** Opened at once. The system's queue must never overflow. */
const BATCH_SIZE = 500

t.test(`${CONNECTIONS} simultaneous connections each get their own responses`, async (t) => {
  const { service, release } = await startHeldService(t)
  const { server } = service.app
  const agent = new Agent({ keepAlive: true, maxFreeSockets: CONNECTIONS })
  t.teardown(() => agent.destroy())
  const ids = Array.from({ length: CONNECTIONS }, (_, index) => 1000 + index)
  const plants = ids.map((id) => ({ id, name: `Abies ${id}`, tag: `${id % 7}` }))
  const contents = plants.map(({ name, tag }) => ({ name, tag }))
  const create = (body: object) => ask(service, agent, 'POST', '/plants', body)

  let connections = 0
  server.on('connection', () => connections++)
  const creating: Promise<Answer>[] = []
  for (let from = 0; from < CONNECTIONS; from += BATCH_SIZE) {
    creating.push(...plants.slice(from, from + BATCH_SIZE).map(create))
    while (connections < creating.length) await once(server, 'connection')
  }
  release()
  t.same((await Promise.all(creating)).map(contentOf), contents)
  const replayed = await Promise.all(plants.map(create))
  t.same(replayed.map(contentOf), contents)
  const rejected = await Promise.all(ids.map((id) => create({ id, name: 'other' })))
  t.same(
    rejected.map(({ status, body }) => [status, JSON.parse(body).message]),
    ids.map((id) => [409, `plant ${id} already exists with different content`]),
  )
  const read = await Promise.all(ids.map((id) => ask(service, agent, 'GET', `/plants/${id}`)))
  t.same(read.map(contentOf), plants)
  t.equal(connections, CONNECTIONS, 'no connection was lost')
  t.equal(await service.count(), CONNECTIONS + 2)
})

/** Sends a request over a kept-alive connection and checks the response against the contract. */
async function ask(
  { port, token }: Service,
  agent: Agent,
  method: string,
  path: string,
  body?: object,
): Promise<Answer> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const outgoing = request({ host: '127.0.0.1', port, agent, method, path, headers })
  outgoing.end(body && JSON.stringify(body))
  const [response] = await once(outgoing, 'response')
  response.setEncoding('utf8')
  let text = ''
  for await (const chunk of response) text += chunk
  const answer = { status: response.statusCode, headers: response.headers, body: text }
  checkAnswer(method, path, answer)
  return answer
}

function contentOf({ status, body }: Answer): unknown {
  return status === 200 ? JSON.parse(body) : status
}
