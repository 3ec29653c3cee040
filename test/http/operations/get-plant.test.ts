/** GET /plants/{id}: exact ids in the path, entity tags, `If-None-Match` and `If-Match`. */
import t from 'tap'
import { type Call, type Service, startService } from '../../helpers/service.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

const get = (id: bigint | string, call: Call = {}) =>
  service.call({ method: 'GET', path: `/plants/${id}`, ...call })

const MAX = 2n ** 63n - 1n
const MIN = -(2n ** 63n)

t.test('percent-encoding is decoded once', async (t) => {
  await service.call({ body: { id: -5n, name: 'encoded' } })
  t.match((await get('%2D%35')).json, { name: 'encoded' })
  t.equal((await get('%252D5')).status, 400)
})

const INVALID_IDS = [
  ...['0x10', '1e3', '%205', '5%20', '1.0', '+1', '01', '-0', '-01', '--1', '-', '1_000', '1n'],
  ...[`${MAX + 1n}`, `${MIN - 1n}`, '%D9%A3', '%EF%BC%95', '5%00', '5%0A', '5,6', 'NaN', 'null'],
  ...['1'.repeat(200), '1'.repeat(10_000), '0'.repeat(200), '1%2F2', ';1', '..%2F1'],
]
for (const id of INVALID_IDS) {
  t.test(`the id ${id.slice(0, 30)} (${id.length}) is rejected by every operation`, async (t) => {
    const path = `/plants/${id}`
    const body = { name: 'x' }
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
      const call = { method, path, ...(/^P/.test(method) && { body }) }
      t.same(
        (await service.call(call)).json,
        { error: 40004, message: 'the path parameter id must be an int64 in decimal' },
        method,
      )
    }
  })
}

t.test('entity tags differ exactly when the content differs', async (t) => {
  const contents = [
    ...[{ name: 'a' }, { name: 'a', tag: '' }, { name: 'a', tag: 'b' }, { name: 'ab' }],
    ...[{ name: 'ab', tag: '' }, { name: 'A' }, { name: 'é' }, { name: 'e\u0301' }, { name: '' }],
    ...[{ name: 'a', tag: 'null' }, { name: 'a","b' }, { name: 'a"', tag: 'b' }],
  ]
  const seen = new Set<string>()
  for (const [index, content] of contents.entries()) {
    const id = 100n + BigInt(index)
    await service.call({ body: { id, ...content } })
    const { headers } = await get(id)
    t.equal((await get(id)).headers.etag, headers.etag)
    seen.add(headers.etag ?? '')
  }
  t.equal(seen.size, contents.length)
})

t.test('an entity tag depends only on the content, across changes and services', async (t) => {
  const plant = { name: 'Abies alba Mill.', tag: 'Tree' }
  await service.call({ body: { id: 20n, ...plant } })
  const { headers } = await get(20n)
  const path = '/plants/20'
  for (const tag of ['Shrub', 'Tree']) {
    await service.call({ method: 'PATCH', path, body: { tag } })
    t.equal((await get(20n)).headers.etag === headers.etag, tag === 'Tree')
  }

  const other = await startService(t)
  await other.call({ body: { id: 20n, ...plant } })
  t.equal((await other.call({ method: 'GET', path })).headers.etag, headers.etag)
})

t.test('§13.1.2: If-None-Match with the entity tag gets 304', async (t) => {
  await service.call({ body: { id: 30n, name: 'Acer' } })
  const { headers } = await get(30n)
  const etag = headers.etag ?? ''
  for (const known of [
    ...[etag, `W/${etag}`, '*', `"a", ${etag}`, `${etag},"a"`, ` ,, W/"a" ,\t${etag} , `],
    ...[
      [etag, '"a"'],
      ['"a"', `W/${etag}`],
      ['""', '"é"', etag],
    ],
  ]) {
    const values = [known].flat().map((value) => Buffer.from(value).toString('latin1'))
    const answer = await get(30n, { headers: { 'If-None-Match': values } })
    t.equal(answer.status, 304, values.join())
    t.equal(answer.headers.etag, etag)
  }
})

t.test('If-None-Match with other entity tags gets the plant', async (t) => {
  await service.call({ body: { id: 31n, name: 'Acer' } })
  const etag = (await get(31n)).headers.etag ?? ''
  const others = ['""', '"*"', etag.toLowerCase(), `"${etag.slice(2)}`, `"a${etag.slice(1)}`]
  for (const other of [...others, `"a,${etag.slice(1)}`, '"a", W/"b"', `W/"${etag.slice(2)}`]) {
    const answer = await get(31n, { headers: { 'If-None-Match': other } })
    t.equal(answer.status, 200, other)
    t.same(answer.json, { id: 31n, name: 'Acer' })
  }
})

t.test('§13.1.1: If-Match with the entity tag or * gets the plant', async (t) => {
  await service.call({ body: { id: 34n, name: 'Acer' } })
  const etag = (await get(34n)).headers.etag ?? ''
  for (const ifMatch of [etag, '*', `"a", ${etag}`]) {
    for (const method of ['GET', 'HEAD']) {
      const answer = await get(34n, { method, headers: { 'If-Match': ifMatch } })
      t.match(answer, { status: 200, headers: { etag } }, ifMatch)
    }
  }
})

t.test('If-Match without the entity tag gets 412, regardless of If-None-Match', async (t) => {
  await service.call({ body: { id: 35n, name: 'Acer' } })
  const etag = (await get(35n)).headers.etag ?? ''
  for (const ifMatch of ['"a"', `W/${etag}`]) {
    for (const headers of [{}, { 'If-None-Match': etag }, { 'If-None-Match': '"a"' }]) {
      const answer = await get(35n, { headers: { ...headers, 'If-Match': ifMatch } })
      t.equal(answer.status, 412)
      const isWeak = ifMatch.startsWith('W/')
      const message = isWeak ? /weak ETag/ : 'plant 35 has changed; fetch it again'
      t.match(answer.json, { error: 41201, message })
    }
  }
  t.equal((await get(404n, { headers: { 'If-Match': '"a"' } })).status, 404)
})

t.test('If-None-Match is evaluated after an If-Match that succeeds', async (t) => {
  await service.call({ body: { id: 36n, name: 'Acer' } })
  const etag = (await get(36n)).headers.etag ?? ''
  const headers = { 'If-Match': etag, 'If-None-Match': etag }
  t.equal((await get(36n, { headers })).status, 304)
})

const MALFORMED = ['a', '"a', 'a"', 'w/"a"', '"a" "b"', '*, "a"', '"a"; *', '**', '', 'W/', ',']
for (const value of MALFORMED) {
  t.test(`the header If-None-Match: ${value} is malformed`, async (t) => {
    await service.call({ body: { id: 32n, name: 'Acer' } })
    t.same((await get(32n, { headers: { 'If-None-Match': value } })).json, {
      error: 40004,
      message: 'the header if-none-match must be * or a comma-separated list of entity tags',
    })
  })
}
