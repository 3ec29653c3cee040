/** Bodies that arrive byte by byte, or are not JSON. */
import { once } from 'node:events'
import t from 'tap'
import type { OperationId } from '../../core/contract/operation-types.ts'
import { keysOf } from '../../core/known.ts'
import type { Fault } from '../../src/faults/fault.ts'
import { openConnection } from '../helpers/network/connection.ts'
import { EventStream } from '../helpers/network/event-stream.ts'
import { createIn, removeFrom } from '../helpers/plants/single-changes.ts'
import { readAll } from '../helpers/service/service.ts'
import {
  CALLS,
  create,
  type FaultyService,
  follow,
  get,
  name,
  startFaulty,
  toRequest,
} from './faulty-service.ts'

const DRIP_MS = 5

/** Longer than any test takes. */
const NEVER = 600_000

let faulty: FaultyService
t.before(async () => {
  faulty = await startFaulty(t)
})

/** Sets the faults of the service that the tests share. */
function setFaults(...faults: Fault[]): FaultyService {
  faulty.injection.setFaults(faults)
  return faulty
}

t.test('a body drips byte by byte', async (t) => {
  const { service } = setFaults({ dripMs: DRIP_MS })
  const socket = openConnection(t, service)
  let reads = 0
  socket.on('data', () => reads++)
  const all = readAll(socket)
  const begun = performance.now()
  const headers = { connection: 'close' }
  socket.write(toRequest({ ...create, headers }, service.token))
  const body = JSON.stringify({ name })
  t.match(String(await all), `\r\ncontent-length: ${body.length}\r\n`)
  t.equal(String(await all).split('\r\n\r\n')[1], body)
  // Timers have whole milliseconds.
  t.ok(performance.now() - begun > body.length * (DRIP_MS - 1))
  t.ok(reads > 2)
})

t.test('so does an error, and a response without a body arrives as ever', async (t) => {
  const { service } = setFaults({ dripMs: 1, error: 'store-busy', first: 1 }, { dripMs: 1 })
  t.match(await service.call({ ...get, path: '/plants/404' }), { status: 503 })
  t.match(await service.call({ ...get, path: '/plants/404' }), { status: 404 })
  t.match(await service.call({ ...get, method: 'HEAD' }), { status: 200, body: '' })
  t.match(await service.call(CALLS.deletePlant), { status: 204 })
})

t.test('a stream drips, event by event', async (t) => {
  const { service } = setFaults({ operation: 'listChanges', dripMs: 1 })
  const stream = await EventStream.open(t, service)
  for (const id of [31n, 32n]) await createIn(service.store, { id, name })
  t.match(await stream.changes(2), [{ id: 31n }, { id: 32n }])
  stream.close()
})

t.test('the rest arrives at once when the service stops', async (t) => {
  const { service } = await startFaulty(t, [{ dripMs: NEVER }])
  const socket = openConnection(t, service)
  const all = readAll(socket)
  socket.write(toRequest(create, service.token))
  await once(socket, 'data')
  await service.close()
  t.equal(String(await all).split('\r\n\r\n')[1], JSON.stringify({ name }))
})

/** What each operation does first, so that it succeeds. */
const isCreate = (operation: OperationId) => operation.startsWith('create')

for (const operation of keysOf(CALLS).filter((each) => each !== 'deletePlant')) {
  t.test(`${operation} is answered in HTML once its work is done`, async (t) => {
    const { service } = setFaults({ operation, body: 'html' })
    await removeFrom(service.store, 4n, undefined)
    if (!isCreate(operation)) await createIn(service.store, { id: 4n, name: 'Acer' })
    const socket = openConnection(t, service)
    const headers = { connection: 'close' }
    const all = readAll(socket)
    socket.write(toRequest({ ...CALLS[operation], headers }, service.token))
    const [head = '', body = ''] = String(await all).split('\r\n\r\n')
    t.match(head, /^HTTP\/1\.1 200 OK\r\n/)
    t.match(head, '\r\ncontent-type: text/html\r\n')
    t.match(head, `\r\ncontent-length: ${body.length}`)
    t.match(body, /^<!DOCTYPE html>\n.*\n$/s)
    const stored = await service.stored(4n)
    if (operation === 'changePlants') t.equal(stored, undefined)
    else t.match(stored, { name: /^create|^replace|^update/.test(operation) ? name : 'Acer' })
  })
}

t.test('an error, and the answer to a stream, can be in HTML', async (t) => {
  const { service } = setFaults({ body: 'html', error: 'store-busy', first: 1 }, { body: 'html' })
  const headers = {
    accept: 'text/event-stream',
    authorization: `Bearer ${service.token}`,
  }
  for (const status of [503, 200]) {
    const response = await fetch(`http://127.0.0.1:${service.port}${follow.path}`, { headers })
    t.equal(response.status, status)
    t.equal(response.headers.get('content-type'), 'text/html')
    t.match(await response.text(), /^<!DOCTYPE html>/)
  }
})
