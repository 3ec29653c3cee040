import { once } from 'node:events'
import { Agent, request } from 'node:http'
import Sqlite from 'better-sqlite3'
import t from 'tap'
import { type Answer, checkAnswer } from '../../helpers/service/contract-check.ts'
import { type Service, startService } from '../../helpers/service/service.ts'

/** More than the system's queue of new connections can hold (511). `npm run test:connections` opens 2000. */
const CONNECTIONS = Number(process.argv[2] ?? 600)

/** Opened at once. The system's queue must never overflow. */
const BATCH_SIZE = 500

t.test(`${CONNECTIONS} simultaneous connections each get their own responses`, async (t) => {
  // The clock stands still, so no request is rejected because it has waited too long.
  const service = await startService(t, {
    inFile: true,
    config: { lockTimeout: 60_000 },
    clock: { monotonic: () => 0 },
  })
  const holder = new Sqlite(service.database)
  t.teardown(() => holder.close())
  holder.exec('BEGIN IMMEDIATE')
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
  holder.exec('COMMIT')
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
  t.equal(await service.count(), CONNECTIONS)
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
