/** What a client sees does not depend on the thread that serves it. */
import t from 'tap'
import { AccessTokens } from '../../service/access-tokens.ts'
import { openStore } from '../../src/stores/engines.ts'
import { runHere } from '../helpers/command-here.ts'
import { ask, formatRequest, type Line, openLines, THREADS } from '../helpers/threads.ts'
import { sharedService } from './shared-service.ts'

const service = await sharedService()
const { token, database } = service

t.test('every thread serves connections', async (t) => {
  const lines = await openLines(t, service)
  t.equal(new Set(lines.map(({ thread }) => thread)).size, THREADS)
})

const CLIENTS = 4
const ROUNDS = 16

t.test('a change is visible to the next read of every thread', async (t) => {
  const statuses = { POST: 200, PUT: 200, PATCH: 200, DELETE: 204 }
  const readFromAll = (lines: readonly Line[], id: number) =>
    Promise.all(
      lines.map(async ({ socket }) => {
        const { status, body } = await ask(socket, formatRequest(token, `GET /plants/${id}`))
        return status === 200 ? JSON.parse(body).name : status
      }),
    )
  const client = async (number: number) => {
    const lines = await openLines(t, service)
    const stale: unknown[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const id = number * ROUNDS + round
      const { socket } = lines[round % THREADS] as Line
      for (const [method, status] of Object.entries(statuses)) {
        const name = `${method} ${id}`
        const path = method === 'POST' ? '/plants' : `/plants/${id}`
        const body = JSON.stringify({ ...(method === 'POST' && { id }), name })
        const content = method === 'DELETE' ? '' : body
        const answer = await ask(socket, formatRequest(token, `${method} ${path}`, content))
        const expected = method === 'DELETE' ? 404 : name
        const seen = await readFromAll(lines, id)
        const isCurrent = answer.status === status && seen.every((each) => each === expected)
        if (!isCurrent) stale.push({ name, status: answer.status, seen })
      }
    }
    return stale
  }
  const clients = Array.from({ length: CLIENTS }, (_, number) => client(number))
  t.same((await Promise.all(clients)).flat(), [])
})

t.test('a new plant is in the next page of every thread', async (t) => {
  const lines = await openLines(t, service)
  for (const [index, { socket }] of lines.entries()) {
    const plant = { id: 10_000 + index, name: 'Abies', tag: 'page' }
    await ask(socket, formatRequest(token, 'POST /plants', JSON.stringify(plant)))
    const pages = lines.map(async (line) =>
      JSON.parse((await ask(line.socket, formatRequest(token, 'GET /plants?tag=page'))).body),
    )
    for (const page of await Promise.all(pages)) t.equal(page.length, index + 1)
  }
})

t.test('of conflicting creates in all threads, one succeeds', async (t) => {
  const lines = await openLines(t, service, 4)
  for (let id = 20_000; id < 20_020; id++) {
    const answers = await Promise.all(
      lines.map(({ socket }, index) =>
        ask(socket, formatRequest(token, 'POST /plants', `{"id":${id},"name":"${index}"}`)),
      ),
    )
    const [created = { body: '{}' }, ...others] = answers.filter(({ status }) => status === 200)
    t.same(others, [])
    t.equal(answers.filter(({ status }) => status === 409).length, lines.length - 1)
    const stored = await service.call({ method: 'GET', path: `/plants/${id}` })
    t.match(stored.json, JSON.parse(created.body))
  }
})

t.test('of conditional changes in all threads, one succeeds', async (t) => {
  const lines = await openLines(t, service, 2)
  const read = { method: 'GET', path: '/plants/30000' }
  await service.call({ body: { id: 30_000, name: 'before' } })
  for (let round = 0; round < 20; round++) {
    const { etag } = (await service.call(read)).headers
    const answers = await Promise.all(
      lines.map(({ socket }, index) => {
        const body = `{"name":"${round} ${index}"}`
        const request = formatRequest(token, 'PUT /plants/30000', body)
        return ask(socket, request.replace('Host', `If-Match: ${etag}\r\nHost`))
      }),
    )
    const statuses = answers.map(({ status }) => status).sort()
    t.same(statuses, [200, ...Array(lines.length - 1).fill(412)])
  }
})

t.test('a revoked token is rejected by all threads at once', async (t) => {
  const lines = await openLines(t, service, 2)
  const revocations = {
    'the command line': (name: string) =>
      runHere(['token', 'revoke', name, '--database', database]),
    'another connection': async (name: string) => {
      const store = await openStore({ database, lockTimeout: 30_000, sameThread: true })
      await new AccessTokens(store).revoke(name)
      await store.close()
    },
  }
  for (const [by, revoke] of Object.entries(revocations)) {
    for (let round = 0; round < 5; round++) {
      const name = `${by} ${round}`
      const issued = await service.issueToken(name, ['read'])
      const read = async () => {
        const request = formatRequest(issued, 'GET /plants?limit=1')
        const answers = await Promise.all(lines.map(({ socket }) => ask(socket, request)))
        return new Set(answers.map(({ status }) => status))
      }
      t.same(await read(), new Set([200]), `${name} is valid`)
      await revoke(name)
      t.same(await read(), new Set([401]), `${name} is revoked`)
    }
  }
})
