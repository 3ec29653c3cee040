/** Connections that are cut, over plain HTTP and over TLS. */
import { once } from 'node:events'
import t, { type Test } from 'tap'
import type { OperationId } from '../../core/contract/operation-types.ts'
import type { Fault } from '../../src/faults/fault.ts'
import { issue, writeFiles } from '../helpers/network/certificates.ts'
import { openConnection } from '../helpers/network/connection.ts'
import { connectTls } from '../helpers/network/tls-client.ts'
import { latestCursor } from '../helpers/plants/changes.ts'
import { createIn, removeFrom } from '../helpers/plants/single-changes.ts'
import { type Call, readAll, type Service } from '../helpers/service/service.ts'
import { ask } from '../helpers/service/threads.ts'
import {
  CALLS,
  create,
  type FaultyService,
  get,
  list,
  name,
  startFaulty,
  toRequest,
} from './faulty-service.ts'

const stored = { id: 4n, name: 'Acer', tag: null }

/** A service with the plants 1, 2 and 3. */
let faulty: FaultyService
t.before(async () => {
  faulty = await startFaulty(t)
  for (const id of [1n, 2n, 3n]) await createIn(faulty.service.store, { id, name })
})
t.beforeEach(() => removeFrom(faulty.service.store, 4n))

/** Sets the faults of that service. */
function setFaults(...faults: Fault[]): Service {
  faulty.injection.setFaults(faults)
  return faulty.service
}

/** Sends a request, and resolves to all bytes of the response once the connection is closed. */
async function send(t: Test, service: Service, call: Call): Promise<string> {
  const socket = openConnection(t, service)
  socket.write(toRequest(call, service.token))
  return String(await readAll(socket))
}

/** The same for the bytes of the body. */
async function bodyOf(t: Test, service: Service, call: Call): Promise<Buffer> {
  const socket = openConnection(t, service)
  socket.write(toRequest(call, service.token))
  const bytes = await readAll(socket)
  return bytes.subarray(bytes.indexOf('\r\n\r\n') + 4)
}

/** The events and comments of a stream, and what follows the last one. */
function blocksOf(response: string): string[] {
  const [, body = ''] = response.split(/\r\n\r\n(.*)/s)
  return body.replace(/^[\da-f]+\r\n|\r\n/gm, '').split('\n\n')
}

const STREAM = { accept: 'text/event-stream' }

/** The changing operations: a call for plant 4, and the plant afterwards. */
const CHANGES: readonly [OperationId, Call, object | undefined][] = [
  ['createPlant', { body: { id: 4n, name: 'Acer' } }, stored],
  ['createPlants', { path: '/plants/batch', body: [{ id: 4n, name: 'Acer' }] }, stored],
  [
    'changePlants',
    { method: 'PATCH', body: [{ op: 'update', id: 4n, tag: 'Tree' }] },
    { ...stored, tag: 'Tree' },
  ],
  [
    'replacePlant',
    { method: 'PUT', path: '/plants/4', body: { name: 'Abies' } },
    { ...stored, name: 'Abies' },
  ],
  [
    'updatePlant',
    { method: 'PATCH', path: '/plants/4', body: { tag: 'Tree' } },
    { ...stored, tag: 'Tree' },
  ],
  ['deletePlant', { method: 'DELETE', path: '/plants/4' }, undefined],
]

t.test('before the work, nothing is sent or done', async (t) => {
  const service = setFaults({ cut: 'before-work' })
  t.equal(await send(t, service, create), '')
  t.equal(await service.stored(4n), undefined)
})

t.test('before the response, the change is committed', async (t) => {
  for (const [operation, call, after] of CHANGES) {
    const service = setFaults({ operation, cut: 'before-response' })
    await removeFrom(service.store, 4n, undefined)
    if (!operation.startsWith('create'))
      await createIn(service.store, { ...stored, tag: undefined })
    t.equal(await send(t, service, call), '', operation)
    t.same(await service.stored(4n), after, operation)
  }
})

/** Asserts that the head and half of the body were sent. */
function checkHalf(t: Test, response: string): void {
  const [head = '', body] = response.split('\r\n\r\n')
  t.match(head, /^HTTP\/1\.1 200 OK\r\n/)
  const whole = JSON.stringify({ name })
  t.match(head, new RegExp(`\r\ncontent-length: ${whole.length}\r\n`))
  t.equal(body, whole.slice(0, whole.length / 2))
}

t.test('in the body, the head and half of the body are sent', async (t) => {
  const service = setFaults({ operation: 'createPlant', cut: 'in-body' })
  checkHalf(t, await send(t, service, create))
  t.ok(await service.stored(4n))
})

/** Half of a body over TLS, where a connection cannot be reset. */
t.test('so they are over TLS', async (t) => {
  const authority = issue({ name: 'authority' })
  const certificate = issue({ name: 'plants', hosts: ['localhost'], issuer: authority })
  const config = writeFiles(t.testdir(), certificate)
  const { service } = await startFaulty(t, [{ cut: 'in-body', reset: true }], { config })
  const socket = await connectTls(service.port, authority.cert)
  socket.on('error', () => {})
  socket.write(toRequest(create, service.token))
  checkHalf(t, String(await readAll(socket)))
})

t.test('a stream is cut after some events, at the end of one', async (t) => {
  const service = setFaults({ operation: 'listChanges', cut: 'after-events', events: 3 })
  const socket = openConnection(t, service)
  const all = readAll(socket)
  const call = { method: 'GET', path: '/changes?after=latest', headers: STREAM }
  socket.write(toRequest(call, service.token))
  // The first comment.
  await once(socket, 'data')
  for (const ids of [
    [31n, 32n],
    [33n, 35n],
  ]) {
    const creates = ids.map((id) => ({ type: 'create' as const, id, name }))
    await service.store.apply(creates, 'all-or-none')
  }
  const ids = [...String(await all).matchAll(/^data: .*"id":(\d+)/gm)].map(([, id]) => id)
  t.same(ids, ['31', '32', '33'])
  t.match(String(await all), /\}\n\n\r\n$/)
  t.notMatch(String(await all), /\r\n0\r\n\r\n$/, 'the response is incomplete')
})

t.test('a stream that is cut in the body ends in the middle of the first event', async (t) => {
  const service = setFaults({ operation: 'listChanges', cut: 'in-body' })
  const [event = '', ...rest] = blocksOf(
    await send(t, service, { method: 'GET', path: '/changes', headers: STREAM }),
  )
  t.match(event, /^id: \S+\ndata: \{"cursor":"[^"]+/)
  t.notMatch(event, /\}$/)
  t.same(rest, [])
})

t.test('in a character, the body ends with a part of one', async (t) => {
  const service = setFaults({ cut: 'in-character' })
  // 2, 3 and 4 bytes in UTF-8.
  for (const character of ['ä', '×', '植', '🌱']) {
    await removeFrom(service.store, 4n, undefined)
    await createIn(service.store, { id: 4n, name: `a${character}`, tag: 'ä' })
    const bytes = Buffer.from(`{"id":4,"name":"a${character}"`)
    const cut = bytes.subarray(0, bytes.indexOf(character) + 1)
    t.same(await bodyOf(t, service, get), cut, character)
  }
})

t.test('a stream is cut in the first character that has several bytes', async (t) => {
  const service = setFaults()
  const path = `/changes?after=${await latestCursor(service)}`
  await createIn(service.store, { id: 41n, name, tag: undefined })
  await createIn(service.store, { id: 42n, name: 'ä', tag: undefined })
  setFaults({ operation: 'listChanges', cut: 'in-character' })
  for (const headers of [STREAM, {}]) {
    const body = await bodyOf(t, service, { method: 'GET', path, headers })
    t.match(String(body), /"id":41,.*"id":42,"plant":\{"name":"\uFFFD(\r\n)?$/s)
  }
})

t.test('a response without such a character is not cut in it', async (t) => {
  const service = setFaults({ cut: 'in-character' })
  t.equal((await service.call(CALLS.getToken)).status, 200)
})

t.test('a connection is reset wherever it is cut', async (t) => {
  for (const [cut, received] of [
    ['before-work', /^$/],
    ['before-response', /^$/],
    ['in-body', /^HTTP\/1\.1 200 .*\r\n\r\n\{"nam/s],
  ] as const) {
    const service = setFaults({ operation: 'createPlant', cut, reset: true })
    const socket = openConnection(t, service)
    const failed = once(socket, 'error')
    const response = readAll(socket)
    socket.write(toRequest(create, service.token))
    t.match(String(await response), received, cut)
    t.match(await failed, [{ code: 'ECONNRESET' }], cut)
  }
})

t.test('comments of a stream do not count', async (t) => {
  const service = setFaults({ operation: 'listChanges', cut: 'in-body' })
  const socket = openConnection(t, service)
  const all = readAll(socket)
  const call = { method: 'GET', path: '/changes?after=latest', headers: STREAM }
  socket.write(toRequest(call, service.token))
  await once(socket, 'data')
  await createIn(service.store, { id: 9n, name, tag: undefined })
  const [comment, event = '', ...rest] = blocksOf(String(await all))
  t.equal(comment, ':')
  t.match(event, /^id: /)
  t.same(rest, [])
})

for (const cut of ['before-work', 'before-response'] as const) {
  t.test(`a stream that is cut ${cut} has no head`, async (t) => {
    const service = setFaults({ operation: 'listChanges', cut })
    t.equal(await send(t, service, { method: 'GET', path: '/changes', headers: STREAM }), '')
  })
}

t.test('a page is cut after some of its changes', async (t) => {
  const service = setFaults({
    operation: 'listChanges',
    cut: 'after-events',
    events: 2,
  })
  const response = await send(t, service, { method: 'GET', path: '/changes' })
  const [head = '', body = ''] = response.split('\r\n\r\n')
  t.match(head, /^HTTP\/1\.1 200 OK/)
  t.match(head, /\r\nlink: <\?/)
  const changes = JSON.parse(`${body}]`)
  t.same(
    changes.map(({ id }: { id: number }) => id),
    [1, 2],
  )
  t.ok(Number(/content-length: (\d+)/.exec(head)?.[1]) > body.length)
})

t.test(
  'a page with as many changes is cut before its end, and a shorter one is not cut',
  async (t) => {
    const fault = { operation: 'listChanges', cut: 'after-events', events: 3 } as const
    const service = setFaults(fault)
    const [, body = ''] = (
      await send(t, service, { method: 'GET', path: '/changes?limit=3' })
    ).split('\r\n\r\n')
    t.equal(JSON.parse(`${body}]`).length, 3)
    const socket = openConnection(t, service)
    const shorter = toRequest({ method: 'GET', path: '/changes?limit=2' }, service.token)
    for (let count = 0; count < 2; count++) {
      const answer = await ask(socket, shorter)
      t.equal(JSON.parse(answer.body).length, 2)
    }
  },
)

t.test('a page whose text looks like changes is cut at the right place', async (t) => {
  const fault = { operation: 'listChanges', cut: 'after-events', events: 1 } as const
  const service = setFaults()
  const path = `/changes?after=${await latestCursor(service)}`
  setFaults(fault)
  const tricky = '}},{"cursor":"}]'
  for (const id of [21n, 22n]) await createIn(service.store, { id, name: tricky, tag: 'ä}]' })
  const [, body = ''] = (await send(t, service, { method: 'GET', path })).split('\r\n\r\n')
  t.match(JSON.parse(`${body}]`), [{ id: 21, plant: { name: tricky, tag: 'ä}]' } }])
})

t.test('an error is cut in its body, too', async (t) => {
  const service = setFaults({ cut: 'in-body' })
  t.match(await send(t, service, get), /^HTTP\/1\.1 404 .*\r\n\r\n\{"error":40402,"message":$/s)
})

t.test('a response without a body is not cut in it', async (t) => {
  const service = setFaults({ cut: 'in-body' })
  await createIn(service.store, { id: 4n, name })
  const calls: [Call, number][] = [
    [{ ...get, method: 'HEAD' }, 200],
    [{ ...get, headers: { 'if-none-match': '*' } }, 304],
    [CALLS.deletePlant, 204],
  ]
  const socket = openConnection(t, service)
  for (const [call, status] of calls) {
    socket.write(toRequest(call, service.token))
    const [head] = await once(socket, 'data')
    t.match(String(head), `HTTP/1.1 ${status} `)
    t.match(String(head), '\r\nConnection: keep-alive\r\n')
  }
})

t.test(
  'a connection is cut at its second request, and pipelined ones are not served',
  async (t) => {
    for (const cut of ['before-work', 'before-response', 'in-body'] as const) {
      const { injection } = faulty
      const service = setFaults({ operation: 'createPlant', cut })
      injection.clearRequests()
      const socket = openConnection(t, service)
      t.equal((await ask(socket, toRequest(list, service.token))).status, 200)
      const rest = readAll(socket)
      socket.write(toRequest(create, service.token) + toRequest(CALLS.deletePlant, service.token))
      const response = String(await rest)
      t.match(response, cut === 'in-body' ? /^HTTP\/1\.1 200 .*\r\n\r\n\{"nam/s : /^$/)
      t.same(
        injection.requests.map(({ operation, status }) => [operation, status]),
        [
          ['listPlants', 200],
          ['createPlant', cut === 'in-body' ? 200 : undefined],
        ],
      )
      t.equal((await service.call(list)).status, 200, 'other connections are served')
    }
  },
)
