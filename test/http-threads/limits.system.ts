/** Limits apply to the process, not to each thread. */
import { connect, type Socket } from 'node:net'
import Sqlite from 'better-sqlite3'
import t, { type Test } from 'tap'
import { formatHead } from '../helpers/connection.ts'
import { answersOf, readAll } from '../helpers/service.ts'
import { ask, closed, formatRequest, type Line, openLines, THREADS } from '../helpers/threads.ts'
import { sharedService } from './shared-service.ts'

const service = await sharedService()
const { token, port, database } = service

const MIB = 2 ** 20

const STORE_BUSY = 50_301
const SERVICE_BUSY = 50_303

/** Locks the database until `release` is called. */
function lockDatabase(t: Test): () => void {
  const holder = new Sqlite(database)
  t.teardown(() => holder.close())
  holder.exec('BEGIN IMMEDIATE')
  return () => holder.exec('COMMIT')
}

/** Starts a create in each thread, and resolves once all of them are in flight. */
async function startCreates(lines: readonly Line[], firstId: number) {
  const others = await openLines(t, service)
  const creates = lines.map(({ socket }, index) =>
    ask(socket, formatRequest(token, 'POST /plants', `{"id":${firstId + index},"name":"first"}`)),
  )
  // A thread reads from its connections in order, and hands changes over in the next turn.
  for (const _ of 'ab') {
    await Promise.all(others.map(({ socket }) => ask(socket, formatHead(service, 'GET /plants/1'))))
  }
  for (const { socket } of others) socket.destroy()
  return creates
}

const codeOf = ({ body }: { body: string }) => JSON.parse(body).error

t.test('beyond the limit on waiting changes, a change is rejected in every thread', async (t) => {
  const name = 'x'.repeat(MIB - 100)
  // As many as have 64 Mi characters, rounded up.
  const room = Math.ceil(2 ** 26 / name.length)
  const sent = 100
  const lines = await openLines(t, service)
  const release = lockDatabase(t)
  const first = await startCreates(lines, 100)

  const enough = Promise.withResolvers<void>()
  let rejected = 0
  const create = async (id: number): Promise<number> => {
    const answer = await service.call({ body: { id, name } })
    if (answer.status === 200) return 200
    // Too many bodies were being received at that moment.
    if (codeOf(answer) === SERVICE_BUSY) return create(id)
    t.equal(codeOf(answer), STORE_BUSY)
    if (++rejected === sent - room) enough.resolve()
    return answer.status
  }
  const large = Array.from({ length: sent }, (_, index) => create(200 + index))
  await Promise.race([enough.promise, Promise.all(large)])
  t.equal(rejected, sent - room, 'rejected while the others wait')
  for (const { socket, thread } of await openLines(t, service)) {
    const small = formatRequest(token, 'POST /plants', '{"id":-1,"name":"rejected"}')
    t.match(await ask(socket, small), { status: 503, headers: { 'retry-after': '1' } }, thread)
    const { status } = await ask(socket, formatHead(service, 'GET /plants/-1'))
    t.equal(status, 404, 'reads still work')
  }

  release()
  const statuses = await Promise.all(large)
  t.equal(statuses.filter((status) => status === 200).length, room, 'the others are stored')
  for (const { status } of await Promise.all(first)) t.equal(status, 200)
  for (const { socket } of await openLines(t, service)) {
    const again = formatRequest(token, 'POST /plants', '{"id":-1,"name":"accepted"}')
    t.equal((await ask(socket, again)).status, 200, 'there is room again in every thread')
  }
})

t.test('when the request budget is used up, every thread rejects large bodies', async (t) => {
  // 65 of these fit. They leave 16,449 bytes, because the first 16 KiB of each body do not count.
  const head = formatRequest(token, 'POST /plants', ' '.repeat(MIB)).slice(0, -1)
  const senders = new Set<Socket>()
  t.teardown(() => {
    for (const socket of senders) socket.destroy()
  })
  const hold = () => {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    senders.add(socket)
    socket.write(head)
    // It was rejected because a create below took the last bytes.
    socket.once('data', () => {
      senders.delete(socket)
      socket.destroy()
      hold()
    })
  }
  for (let held = 0; held < 65; held++) hold()

  const large = (id: number) => ({ id, name: 'x'.repeat(40_000) })
  const create = (plant: object) => formatRequest(token, 'POST /plants', JSON.stringify(plant))
  while ((await service.call({ body: large(1000) })).status === 200);
  for (const [index, { socket, thread }] of (await openLines(t, service)).entries()) {
    t.equal((await ask(socket, create({ id: 1010 + index, name: 'x' }))).status, 200, thread)
    const rejected = await ask(socket, create(large(-2)))
    t.match(rejected, { status: 503, headers: { 'retry-after': '1' } }, thread)
    t.equal(codeOf(rejected), SERVICE_BUSY)
  }
  for (const socket of senders) socket.destroy()
  while ((await service.call({ body: large(1000) })).status === 503);
  t.pass('when they disconnect, the budget is free again')
})

t.test('when the response budget is used up, every thread rejects large responses', async (t) => {
  // Six bytes of JSON per character, so 66 responses use up the budget.
  const [large, small] = ['/plants/2000', '/plants/2001']
  await service.call({ body: { id: 2000, name: '\x01'.repeat(170_000) } })
  await service.call({ body: { id: 2001, name: 'x' } })
  const lines = await openLines(t, service)
  const readLarge = () =>
    Promise.all(lines.map(({ socket }) => ask(socket, formatHead(service, `GET ${large}`))))
  const readers: Line[] = []
  let answers = await readLarge()
  // The first responses of each client fit into the buffers of the system.
  while (answers.some(({ status }) => status === 200)) {
    // Each thread alone would have room for more.
    if (readers.length > 120) throw new Error(`${readers.length} clients have not read`)
    const more = await openLines(t, service)
    for (const { socket } of more) {
      socket.pause()
      socket.write(formatHead(service, `GET ${large}`).repeat(8))
    }
    readers.push(...more)
    answers = await readLarge()
  }
  for (const answer of answers) {
    t.match(answer, { status: 503, headers: { 'retry-after': '1' } })
    t.equal(codeOf(answer), SERVICE_BUSY)
  }
  for (const { socket, thread } of lines) {
    t.equal((await ask(socket, formatHead(service, `GET ${small}`))).status, 200, thread)
  }
  for (const { socket } of readers) socket.destroy()
  while ((await readLarge()).some(({ status }) => status === 503));
  t.pass('when they disconnect, the budget is free again')
})

t.test('a connection is closed when the queue of all threads is full', async (t) => {
  // Each thread alone would have room for its requests: 10,000 can wait in the process.
  const each = 12
  const queued = 500
  const lines = await openLines(t, service, each)
  const release = lockDatabase(t)
  const creates = lines.map(async ({ socket }, index) => {
    const create = formatRequest(token, 'POST /plants', `{"id":${3000 + index},"name":"x"}`)
    const bytes = readAll(socket)
    socket.write(create + formatHead(service, 'GET /plants/1').repeat(queued))
    socket.end(formatHead(service, 'GET /plants/1', 'Connection: close\r\n'))
    return answersOf(await bytes).length
  })
  t.ok(each * queued < 10_000)
  t.ok(THREADS * each * queued > 10_000)
  t.equal(await Promise.race(creates), 0, 'no response has been sent yet')
  for (const { socket } of await openLines(t, service)) {
    t.equal((await ask(socket, formatHead(service, 'GET /plants/1'))).status, 404)
  }
  release()
  const counts = new Set(await Promise.all(creates))
  t.same(counts, new Set([0, queued + 2]), 'the other connections are served')
  await Promise.all(lines.map(({ socket }) => closed(socket)))
})
