import t, { type Test } from 'tap'
import { type Service, startService } from '../../helpers/service.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

const path = '/plants/batch'
const MAX = 2n ** 63n - 1n

/** Each test has its own ids. */
let latest = 0n
const plants = (count: number) =>
  Array.from({ length: count }, () => ({ id: ++latest, name: 'Abies', tag: 'Tree' }))

t.test('a batch is stored, and a repeated batch changes nothing', async (t) => {
  const body = plants(1000)
  const first = await service.call({ path, body })
  t.equal(first.status, 200)
  t.equal(first.body, '{"created":1000,"replayed":0}')
  t.strictSame((await service.call({ path, body })).json, { created: 0, replayed: 1000 })
  t.strictSame(await service.stored(latest), { id: latest, name: 'Abies', tag: 'Tree' })
})

t.test('the first conflict is named by index and id, and nothing is stored', async (t) => {
  const body = plants(4)
  const [first, second, third, fourth] = body
  await service.call({ path, body: [third, fourth] })
  const answer = await service.call({
    path,
    body: [first, second, { ...fourth, tag: '' }, { ...third, name: 'Acer' }],
  })
  t.equal(answer.status, 409)
  const message = `body/2: plant ${fourth?.id} already exists with different content`
  t.strictSame(answer.json, { error: 40901, message })
  t.equal(await service.stored(first?.id ?? 0n), undefined)
  t.equal((await service.stored(third?.id ?? 0n))?.name, 'Abies')
})

t.test('equal plants with the same id count as replayed', async (t) => {
  const [first, second] = plants(2)
  const body = [first, second, first, first]
  t.strictSame((await service.call({ path, body })).json, { created: 2, replayed: 2 })
  t.strictSame((await service.call({ path, body })).json, { created: 0, replayed: 4 })
  const answer = await service.call({
    path,
    body: [first, first, { ...second, name: 'Acer' }],
  })
  t.match(answer.json, { error: 40901, message: /^body\/2: / }, 'the index is that in the request')
})

t.test('different plants with the same id are rejected', async (t) => {
  const [first, second] = plants(2)
  for (const other of [
    { ...first, name: 'Acer' },
    { ...first, tag: '' },
    { id: first?.id, name: 'Abies' },
  ]) {
    const message = `body/2: plant ${first?.id} differs from body/1, which has the same id`
    await assertRejected(t, [second, first, other], { error: 40006, message })
  }
})

const good = '{"id": 1000000, "name": "x"}'

const INVALID: [what: string, body: string, message: string][] = [
  ['an empty array', '[]', 'body must have 1 or more items'],
  ['more than 1,000 plants', `[${Array(1001).fill(good)}]`, 'body must have 1000 or fewer items'],
  ['a plant outside an array', good, 'body must be array'],
  ['null', 'null', 'body must be array'],
  [
    'an id beyond int64',
    `[${Array(17).fill(good)}, {"id": ${MAX + 1n}, "name": "x"}]`,
    'body/17/id must be an int64',
  ],
  ['a missing name', `[${good}, {"id": 1}]`, "body/1 must have required property 'name'"],
  ['null as a plant', `[null, ${good}]`, 'body/0 must be object'],
]
for (const [what, body, message] of INVALID) {
  t.test(`${what} is rejected`, async (t) => {
    await assertRejected(t, body, { error: 40002, message })
  })
}

t.test('invalid JSON is rejected', async (t) => {
  await assertRejected(t, `[${good},]`, { error: 40001 })
})

t.test('a missing body is rejected', async (t) => {
  const answer = await service.call({ path, headers: { 'content-type': 'application/json' } })
  t.match(answer.json, { error: 40001, message: /^body is / })
  t.match((await service.call({ path })).json, { error: 40002, message: 'body is required' })
})

t.test('a batch at the size limit is accepted, one byte more is rejected', async (t) => {
  const limit = 1024 * 1024
  const body = `[{"id": ${++latest}, "name": "x"}]`
  t.equal((await service.call({ path, body: body.padEnd(limit) })).status, 200)
  t.match(await service.call({ path, body: body.padEnd(limit + 1) }), { status: 413 })
})

async function assertRejected(t: Test, body: unknown, error: object) {
  const before = await service.count()
  const answer = await service.call({ path, body })
  t.equal(answer.status, 400)
  t.match(answer.json, error)
  t.equal(await service.count(), before)
}
