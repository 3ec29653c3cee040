/** `If-Match` prevents lost updates, `If-None-Match` saves transfers (RFC 9110 §13.1), and all others are rejected. */
import t, { type Test } from 'tap'
import { importPlants } from '../../helpers/plants/import-plants.ts'
import { type Call, type Service, startService } from '../../helpers/service/service.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

const ID = -(2n ** 63n)
const PATH = `/plants/${ID}`
const plant = { id: ID, name: 'Abies', tag: 'Tree' }

let etag: string
/** Resets the plant, which the tests change. */
t.beforeEach(async () => {
  await importPlants(service.store, [plant], 'replace')
  etag = String((await service.call({ method: 'GET', path: PATH })).headers.etag)
})

const READS: Call[] = [{ method: 'GET' }, { method: 'HEAD' }]
const CHANGES: Call[] = [
  { method: 'PUT', body: { name: 'Acer' } },
  { method: 'PATCH', body: { name: 'Acer' } },
  { method: 'DELETE' },
]
const send = (call: Call, headers: Call['headers'] = {}) =>
  service.call({ path: PATH, ...call, headers })

/** Values of a header that have the plant's entity tag. */
const equal = () => [
  ...[etag, '*', `"a", ${etag}`, `${etag}, "a"`, `"a",,\t${etag} ,`, `W/"a", ${etag}`],
  ...[
    ['"a"', etag],
    [etag, '""', '"a"'],
    [Buffer.from('"é"').toString('latin1'), etag],
  ],
]
/** Values that do not. */
const different = () => [
  ...['""', '"*"', '"a", "b"', `"${etag.slice(2)}`, `"a,${etag.slice(1)}`, etag.toLowerCase()],
]
const weak = () => [`W/${etag}`, `W/${etag}, "a"`, ['"a"', `W/${etag}`]]
const malformed = () => [
  ...[
    etag.slice(1, -1),
    etag.slice(1),
    `*, ${etag}`,
    `${etag} "a"`,
    'a',
    '"a',
    'a"',
    'w/"a"',
    '**',
  ],
  ...['"a"; *', '', 'W/', ','],
]

/** All values for a read and a change, and two of them for each other operation. */
const some = <Value>(call: Call, values: readonly Value[]) =>
  ['GET', 'PUT'].includes(String(call.method)) ? values : values.slice(0, 2)

for (const call of [...READS, ...CHANGES]) {
  const what = `${call.method} ${JSON.stringify(call.body ?? '')}`
  const isRead = READS.includes(call)

  t.test(`${what} succeeds if If-Match has the plant's entity tag`, async (t) => {
    for (const ifMatch of some(call, equal())) {
      await importPlants(service.store, [plant], 'replace')
      const { status } = await send(call, { 'If-Match': ifMatch })
      t.equal(status, call.method === 'DELETE' ? 204 : 200, String(ifMatch))
    }
  })

  t.test(`${what} gets 412 if If-Match does not have the plant's entity tag`, async (t) => {
    const changed = `plant ${ID} has changed; fetch it again`
    const isWeak =
      'If-Match has a weak ETag, which never matches: remove its W/, which a proxy that ' +
      'compresses responses adds, or turn off compression of JSON in the proxy'
    for (const ifMatch of [...some(call, different()), ...some(call, weak())]) {
      const message = String(ifMatch).includes('W/') ? isWeak : changed
      await assertRejected(t, { ...call, headers: { 'If-Match': ifMatch } }, 412, 41201, message)
      if (!isRead) continue
      const both = { 'If-Match': ifMatch, 'If-None-Match': etag }
      t.equal((await send(call, both)).status, 412, 'whatever If-None-Match is')
    }
  })

  t.test(`${what} with a malformed header is rejected`, async (t) => {
    for (const name of isRead ? ['if-match', 'if-none-match'] : ['if-match']) {
      const message = `the header ${name} must be * or a comma-separated list of entity tags`
      for (const value of some(call, malformed())) {
        await assertRejected(t, { ...call, headers: { [name]: value } }, 400, 40004, message)
      }
    }
  })

  if (isRead) {
    t.test(`§13.1.2: ${what} gets 304 if If-None-Match has the entity tag`, async (t) => {
      for (const known of [...some(call, equal()), ...some(call, weak())]) {
        for (const headers of [{}, { 'If-Match': etag }]) {
          const answer = await send(call, { ...headers, 'If-None-Match': known })
          t.match(answer, { status: 304, headers: { etag } }, String(known))
        }
      }
      for (const other of [...some(call, different()), `W/"${etag.slice(2)}`]) {
        t.equal((await send(call, { 'If-None-Match': other })).status, 200, other)
      }
    })
    continue
  }

  t.test(`${what} with If-None-Match is rejected, and the message suggests If-Match`, async (t) => {
    const message =
      'this operation does not accept If-None-Match; use If-Match with the ETag that you read'
    for (const ifNoneMatch of some(call, ['*', etag, 'a', ''])) {
      for (const ifMatch of [{}, { 'If-Match': '*' }, { 'If-Match': etag }]) {
        const headers = { ...ifMatch, 'If-None-Match': ifNoneMatch }
        await assertRejected(t, { ...call, headers }, 400, 40004, message)
      }
    }
  })
}

const CHANGE_LIST: Call = { method: 'PATCH', path: '/plants', body: [{ op: 'remove', id: ID }] }
const INSTEAD =
  'use ifMatch or ifContent in each change, or the op create, which never changes an existing plant'

for (const [call, advice] of [
  [{ path: '/plants', body: plant }, 'it never changes an existing plant'],
  [CHANGE_LIST, INSTEAD],
  [{ method: 'GET', path: '/plants' }, 'its response has no ETag'],
  [{ method: 'HEAD', path: '/plants' }, 'its response has no ETag'],
] as [Call, string][]) {
  for (const header of ['If-None-Match', 'If-Match']) {
    t.test(`${call.method ?? 'POST'} /plants with ${header} is rejected`, async (t) => {
      const message = `this operation does not accept ${header}; ${advice}`
      for (const value of ['*', '"a"', 'a', '']) {
        await assertRejected(t, { ...call, headers: { [header]: value } }, 400, 40004, message)
      }
    })
  }
}

t.test('OPTIONS ignores preconditions (RFC 9110 §13.2.1)', async (t) => {
  for (const path of ['/plants', PATH]) {
    for (const headers of [{ 'If-None-Match': '*' }, { 'If-Match': '"a"' }]) {
      t.equal((await service.call({ method: 'OPTIONS', path, headers })).status, 204)
    }
  }
})

t.test('a missing plant is reported before a failed If-Match', async (t) => {
  for (const call of [...READS, ...CHANGES]) {
    t.equal((await send({ ...call, path: '/plants/404' }, { 'If-Match': '"a"' })).status, 404)
  }
})

t.test(
  'preconditions with a date are ignored, because plants have no modification date',
  async (t) => {
    const headers = {
      'If-Modified-Since': new Date().toUTCString(),
      'If-Unmodified-Since': 'Thu, 01 Jan 1970 00:00:00 GMT',
    }
    const others = [
      { path: '/plants', body: plant },
      { method: 'GET', path: '/plants' },
    ]
    for (const call of [...others, ...READS, ...CHANGES]) {
      const expected = call.method === 'DELETE' ? 204 : 200
      t.equal((await send(call, headers)).status, expected, JSON.stringify(call.method))
    }
  },
)

async function assertRejected(t: Test, call: Call, ...expected: [number, number, string]) {
  const [status, error, message] = expected
  const answer = await send(call, call.headers)
  t.equal(answer.status, status, `${JSON.stringify(call.headers)} ${answer.body}`)
  if (call.method !== 'HEAD') t.same(answer.json, { error, message })
  t.same(await service.stored(ID), plant)
}
