/** DELETE /plants/{id}, and content in requests where it has no meaning. */

import { gzipSync } from 'node:zlib'
import t from 'tap'
import { openConnection } from '../../helpers/network/connection.ts'
import { type Call, type Service, startService } from '../../helpers/service/service.ts'
import { ask } from '../../helpers/service/threads.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

const remove = (id: bigint, call: Call = {}) =>
  service.call({ method: 'DELETE', path: `/plants/${id}`, ...call })

const CONTENTS: [what: string, call: Call][] = [
  ['JSON', { body: { id: 5n, name: 'x' } }],
  ['invalid JSON', { body: '{nonsense' }],
  ['text', { body: 'x', headers: { 'content-type': 'text/plain' } }],
  ['an unknown type', { body: 'x', headers: { 'content-type': 'nonsense' } }],
  ['another charset', { body: 'x', headers: { 'content-type': 'a/b; charset=utf-16' } }],
  ['gzip', { body: gzipSync('x'), headers: { 'content-encoding': 'gzip' } }],
  ['chunks', { body: '{', headers: { 'transfer-encoding': 'chunked' } }],
  ['an oversized body', { body: 'x'.repeat(2 ** 21) }],
  ['a type but no content', { headers: { 'content-type': 'application/json' } }],
]
for (const [what, call] of CONTENTS) {
  t.test(`content of a GET, DELETE or OPTIONS is ignored: ${what}`, async (t) => {
    await service.call({ body: { id: 12n, name: 'Abies' } })
    const path = '/plants/12'
    const plant = { id: 12n, name: 'Abies' }
    t.same((await service.call({ method: 'GET', path, ...call })).json, plant)
    t.same(
      (await service.call({ method: 'GET', path: '/plants?after=11&limit=1', ...call })).json,
      [plant],
    )
    t.equal((await service.call({ method: 'OPTIONS', path, ...call })).status, 204)
    t.equal((await remove(12n, call)).status, 204)
  })
}

t.test('a connection stays usable after ignored content', async (t) => {
  await service.call({ body: { id: 13n, name: 'Abies' } })
  const request = (method: string, content: string, path = '/plants/13', more = '') =>
    [
      `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.token}\r\n`,
      `Content-Type: application/json\r\nContent-Length: ${content.length}\r\n${more}\r\n${content}`,
    ].join('')
  const socket = openConnection(t, service)
  for (const [bytes, status] of [
    [request('GET', '{nonsense'), 200],
    // Content that looks like a request.
    [request('OPTIONS', 'DELETE /plants/13 HTTP/1.1\r\nHost: x\r\n\r\n'), 204],
    [request('DELETE', 'x'.repeat(100_000)), 204],
    [request('DELETE', ''), 404],
    [request('GET', '', '/plants/404', 'Connection: close\r\n'), 404],
  ] as const) {
    t.equal((await ask(socket, bytes)).status, status)
  }
})
