/** HTTP threads on PostgreSQL share the connections of the main thread. */
import t from 'tap'
import { startPostgres } from '../../tools/postgres/server.ts'
import {
  ask,
  formatRequest,
  type Line,
  openLines,
  startThreads,
  THREADS,
} from '../helpers/threads.ts'

// A server of its own, which the last test stops.
const { server, emptyDatabase } = await startPostgres(t)
const database = await emptyDatabase()
const service = await startThreads(t, { database, lockTimeout: 30_000 })
const { token } = service

/** Sends a request over each connection, and resolves to the statuses. */
async function statusesOf(lines: readonly Line[], request: string): Promise<Set<number>> {
  const answers = await Promise.all(lines.map(({ socket }) => ask(socket, request)))
  return new Set(answers.map(({ status }) => status))
}

t.test('a change is visible to the next read of every thread', async (t) => {
  const lines = await openLines(t, service)
  t.equal(new Set(lines.map(({ thread }) => thread)).size, THREADS)
  const read = async (path: string) => {
    const answers = lines.map(({ socket }) => ask(socket, formatRequest(token, `GET ${path}`)))
    return (await Promise.all(answers)).map(({ status, body }) =>
      status === 200 ? JSON.parse(body) : status,
    )
  }
  for (const [index, { socket }] of lines.entries()) {
    const change = async (line: string, body?: object) => {
      const request = formatRequest(token, line, body && JSON.stringify(body))
      return (await ask(socket, request)).status
    }
    const path = `/plants/${index}`
    const page = `/plants?tag=${index}`
    const plant = { id: index, name: 'Abies', tag: `${index}` }
    t.equal(await change('POST /plants', plant), 200)
    t.same(await read(path), Array(THREADS).fill(plant))
    t.same(await read(page), Array(THREADS).fill([plant]))
    t.equal(await change('POST /plants', plant), 200)
    t.equal(await change('POST /plants', { ...plant, name: 'other' }), 409)
    t.equal(await change(`PATCH ${path}`, { name: 'patched' }), 200)
    t.same(await read(path), Array(THREADS).fill({ ...plant, name: 'patched' }))
    t.equal(await change(`DELETE ${path}`), 204)
    t.same(await read(path), Array(THREADS).fill(404))
  }
})

t.test('a revoked token is rejected by all threads at once', async (t) => {
  const lines = await openLines(t, service, 2)
  for (const name of ['one', 'two', 'three']) {
    const request = formatRequest(await service.issueToken(name, ['read']), 'GET /plants')
    t.same(await statusesOf(lines, request), new Set([200]))
    await service.revokeToken(name)
    t.same(await statusesOf(lines, request), new Set([401]))
  }
})

t.test('all threads together use at most 10 connections', async (t) => {
  const lines = await openLines(t, service, 15)
  let isDone = false
  const load = lines.map(async ({ socket }, index) => {
    for (let round = 0; round < 10; round++) {
      const id = 1000 + index * 10 + round
      const create = formatRequest(token, 'POST /plants', `{"id":${id},"name":"x"}`)
      const read = formatRequest(token, `GET /plants/${id}`)
      for (const request of [create, read]) {
        const { status } = await ask(socket, request)
        if (status !== 200) t.equal(status, 200)
      }
    }
  })
  const loaded = Promise.all(load).then(() => {
    isDone = true
  })
  const counts: number[] = []
  while (!isDone) {
    const [row] = await server.query<{ count: string }>(
      `SELECT count(*) FROM pg_stat_activity WHERE datname = '${new URL(database).pathname.slice(1)}'
        AND backend_type = 'client backend'`,
    )
    counts.push(Number(row?.count))
  }
  await loaded
  t.ok(Math.max(...counts) > 1, `${counts}`)
  t.ok(Math.max(...counts) <= 10, `${counts}`)
})

t.test('while the server is down, every thread answers 503', async (t) => {
  const lines = await openLines(t, service)
  const create = formatRequest(token, 'POST /plants', '{"id":-1,"name":"x"}')
  await server.stop()
  for (const request of [create, formatRequest(token, 'GET /plants/-1')]) {
    const answers = await Promise.all(lines.map(({ socket }) => ask(socket, request)))
    t.match(answers, Array(THREADS).fill({ status: 503, headers: { 'retry-after': String } }))
  }
  const ready = await service.call({ method: 'GET', path: '/health/ready', token: null })
  t.match(ready, { status: 503, json: { error: 50302 } })
  await server.start()
  // The first request after an outage can still fail.
  while ((await statusesOf(lines, create)).has(503));
  t.same(await statusesOf(lines, create), new Set([200]))
})
