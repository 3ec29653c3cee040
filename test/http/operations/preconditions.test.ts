/** `If-Match` prevents lost updates (RFC 9110 §13.1.1), and unsupported preconditions are rejected. */

import t, { type Test } from 'tap'
import { importPlants } from '../../../src/transfer/import.ts'
import { type Call, type Service, startService } from '../../helpers/service.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

const ID = -(2n ** 63n)
const PATH = `/plants/${ID}`
const plant = { id: ID, name: 'Abies', tag: 'Tree' }

/** Resets the plant, which the tests change. */
t.beforeEach(async () => {
  await importPlants(service.store, [plant], 'replace')
})

const read = async (path = PATH) => {
  const { headers, json } = await service.call({ method: 'GET', path })
  return { etag: headers.etag ?? '', name: (json as { name: string }).name }
}

const change = (call: Call, ifMatch: string | string[]) =>
  service.call({ path: PATH, ...call, headers: { 'If-Match': ifMatch } })

const CHANGES: Call[] = [
  { method: 'PUT', body: { name: 'Acer' } },
  { method: 'PATCH', body: { name: 'Acer' } },
  { method: 'DELETE' },
]
for (const call of CHANGES) {
  const what = `${call.method} ${JSON.stringify(call.body ?? '')}`
  t.test(`${what} succeeds if If-Match has the plant's entity tag`, async (t) => {
    const { etag } = await read()
    for (const ifMatch of [
      ...[etag, '*', `"a", ${etag}`, `${etag}, "a"`, `"a",,\t${etag} ,`, `W/"a", ${etag}`],
      ...[
        ['"a"', etag],
        [etag, '""', '"a"'],
      ],
    ]) {
      await importPlants(service.store, [plant], 'replace')
      const { status } = await change(call, ifMatch)
      t.equal(status, call.method === 'DELETE' ? 204 : 200, String(ifMatch))
    }
  })

  t.test(`${what} gets 412 if If-Match does not have the plant's entity tag`, async (t) => {
    const { etag } = await read()
    const others = ['""', '"*"', `W/${etag}`, `"${etag.slice(2)}`, `W/${etag}, "a"`, '"a", "b"']
    for (const ifMatch of [...others, `"a,${etag.slice(1)}`, ['"a"', `W/${etag}`]]) {
      const answer = await change(call, ifMatch)
      await assertUntouched(t, 412, answer)
      const isWeak = String(ifMatch).includes('W/')
      const message = isWeak
        ? 'If-Match has a weak ETag, which never matches: remove its W/, which a proxy that ' +
          'compresses responses adds, or turn off compression of JSON in the proxy'
        : `plant ${ID} has changed; fetch it again`
      t.same(answer.json, { error: 41201, message })
    }
  })

  t.test(`${what} with a malformed If-Match is rejected`, async (t) => {
    const { etag } = await read()
    for (const ifMatch of [etag.slice(1, -1), etag.slice(1), '', `*, ${etag}`, `${etag} "a"`]) {
      const answer = await change(call, ifMatch)
      await assertUntouched(t, 400, answer)
      const message = 'the header if-match must be * or a comma-separated list of entity tags'
      t.same(answer.json, { error: 40004, message })
    }
  })

  t.test(`${what} with If-None-Match is rejected, and the message suggests If-Match`, async (t) => {
    const { etag } = await read()
    for (const ifNoneMatch of ['*', etag, 'a', '']) {
      for (const headers of [{}, { 'If-Match': '*' }, { 'If-Match': etag }]) {
        const conditions = { ...headers, 'If-None-Match': ifNoneMatch }
        const answer = await service.call({ path: PATH, ...call, headers: conditions })
        await assertUntouched(t, 400, answer)
        const advice = 'use If-Match with the ETag that you read'
        const message = `this operation does not accept If-None-Match; ${advice}`
        t.same(answer.json, { error: 40004, message })
      }
    }
  })
}

const CHANGE_LIST: Call = { method: 'PATCH', body: [{ op: 'remove', id: ID }] }
const INSTEAD =
  'use ifMatch in each change, or the op create, which never changes an existing plant'

const UNNAMED: [call: Call, header: string, advice: string][] = [
  [{ body: plant }, 'If-None-Match', 'it never changes an existing plant'],
  [{ body: plant }, 'If-Match', 'it never changes an existing plant'],
  [CHANGE_LIST, 'If-Match', INSTEAD],
  [CHANGE_LIST, 'If-None-Match', INSTEAD],
  [{ method: 'GET', path: '/plants' }, 'If-None-Match', 'its response has no ETag'],
  [{ method: 'GET', path: '/plants' }, 'If-Match', 'its response has no ETag'],
]
for (const [call, header, advice] of UNNAMED) {
  t.test(`${call.method ?? 'POST'} /plants with ${header} is rejected`, async (t) => {
    for (const value of ['*', '"a"', 'a', '']) {
      const answer = await service.call({ ...call, headers: { [header]: value } })
      await assertUntouched(t, 400, answer)
      const message = `this operation does not accept ${header}; ${advice}`
      t.same(answer.json, { error: 40004, message })
    }
  })
}

t.test('HEAD rejects the preconditions that GET rejects', async (t) => {
  const headers = { 'If-None-Match': '*' }
  t.equal((await service.call({ method: 'HEAD', path: '/plants', headers })).status, 400)
})

t.test('OPTIONS ignores preconditions (RFC 9110 §13.2.1)', async (t) => {
  for (const path of ['/plants', PATH]) {
    for (const headers of [{ 'If-None-Match': '*' }, { 'If-Match': '"a"' }]) {
      t.equal((await service.call({ method: 'OPTIONS', path, headers })).status, 204)
    }
  }
})

t.test(
  'preconditions with a date are ignored, because plants have no modification date',
  async (t) => {
    const headers = {
      'If-Modified-Since': new Date().toUTCString(),
      'If-Unmodified-Since': 'Thu, 01 Jan 1970 00:00:00 GMT',
    }
    for (const call of [
      { body: plant },
      { method: 'GET', path: '/plants' },
      { method: 'GET', path: PATH },
      { method: 'PUT', path: PATH, body: { name: 'Acer' } },
      { method: 'PATCH', path: PATH, body: { name: 'Acer' } },
    ]) {
      t.equal((await service.call({ ...call, headers })).status, 200, JSON.stringify(call.method))
    }
    t.equal((await service.call({ method: 'DELETE', path: PATH, headers })).status, 204)
  },
)

t.test('exactly one of two writers with the same entity tag succeeds', async (t) => {
  const body = (name: string) => ({ name, tag: 'Tree' })
  for (const [first, second] of [
    [
      { method: 'PUT', body: body('a') },
      { method: 'PUT', body: body('b') },
    ],
    [
      { method: 'PATCH', body: body('a') },
      { method: 'PUT', body: body('b') },
    ],
    [
      { method: 'PATCH', body: body('a') },
      { method: 'PATCH', body: body('b') },
    ],
    [{ method: 'DELETE' }, { method: 'PATCH', body: body('b') }],
  ] as const) {
    await importPlants(service.store, [plant], 'replace')
    const { etag } = await read()
    const answers = await Promise.all([change(first, etag), change(second, etag)])
    const [won, lost] = answers.toSorted((a, b) => a.status - b.status)
    t.ok([200, 204].includes(won?.status ?? 0))
    t.equal(lost?.status, won?.status === 204 ? 404 : 412)
    const stored = await service.stored(ID)
    if (won?.status === 204) t.equal(stored, undefined)
    else t.same(stored, won?.json)
  }
})

const WRITERS = 20
const INCREMENTS = 2

t.test('twenty writers increment a counter without losing an update', async (t) => {
  await importPlants(service.store, [{ ...plant, name: '0' }], 'replace')
  let rejected = 0
  const increment = async (method: string): Promise<void> => {
    const { etag, name } = await read()
    const body = { name: String(Number(name) + 1), ...(method === 'PUT' && { tag: 'Tree' }) }
    const { status } = await change({ method, body }, etag)
    if (status === 200) return
    t.equal(status, 412)
    rejected++
    await increment(method)
  }
  const writer = async (_: unknown, index: number) => {
    for (let count = 0; count < INCREMENTS; count++) await increment(index % 2 ? 'PUT' : 'PATCH')
  }
  await Promise.all(Array.from({ length: WRITERS }, writer))
  t.same(await service.stored(ID), { ...plant, name: String(WRITERS * INCREMENTS) })
  t.ok(rejected > 0, 'some writers conflicted')
})

t.test('concurrent deletes and updates each report their own outcome', async (t) => {
  const { etag } = await read()
  const update = (name: string) => change({ method: 'PATCH', body: { name } }, '*')
  const answers = await Promise.all([
    ...['a', 'b', 'c'].map(update),
    change({ method: 'DELETE' }, '*'),
    ...['d', 'e', 'f'].map(update),
    change({ method: 'PATCH', body: { name: 'lost' } }, etag),
  ])
  const statuses = answers.map(({ status }) => status)
  t.equal(statuses.filter((status) => status === 204).length, 1)
  t.ok(statuses.every((status) => [200, 204, 404, 412].includes(status)))
  t.equal(await service.stored(ID), undefined, 'no update recreated the plant')
})

async function assertUntouched(t: Test, status: number, answer: { status: number; body: string }) {
  t.equal(answer.status, status, answer.body)
  t.same(await service.stored(ID), plant)
}
