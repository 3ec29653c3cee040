import t, { type Test } from 'tap'
import { importPlants } from '../../../src/transfer/import.ts'
import { latestCursor, readAllChanges } from '../../helpers/changes.ts'
import { type Service, startService } from '../../helpers/service.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

const MAX = 2n ** 63n - 1n

const send = (body: unknown) => service.call({ method: 'PATCH', body })

/** As many as a test asks for. */
type Ids = readonly [bigint, bigint, bigint, bigint]

/** Stores plants with the name `Abies` and the tag `Tree`, and resolves to their ids. Each test has its own. */
let latest = 0n
const store = async (count: number): Promise<Ids> => {
  const ids = Array.from({ length: count }, () => ++latest) as unknown as Ids
  const plants = ids.map((id) => ({ id, name: 'Abies', tag: 'Tree' }))
  await importPlants(service.store, plants, 'stop')
  return ids
}

const ETAG = '"name=Abies&tag=Tree"'

t.test('a list creates, replaces, updates and removes plants', async (t) => {
  const [replaced, renamed, untagged, removed] = await store(4)
  const created = ++latest
  const { status, body } = await send([
    { op: 'create', id: created, name: 'Quercus', tag: '' },
    { op: 'replace', id: replaced, name: 'Acer' },
    { op: 'update', id: renamed, name: 'Acer' },
    { op: 'update', id: untagged, tag: null },
    { op: 'remove', id: removed },
  ])
  t.equal(status, 200)
  t.equal(body, '{"created":1,"changed":3,"removed":1,"unchanged":0}')
  t.strictSame(await service.stored(created), { id: created, name: 'Quercus', tag: '' })
  t.strictSame(await service.stored(replaced), { id: replaced, name: 'Acer', tag: null })
  t.strictSame(await service.stored(renamed), { id: renamed, name: 'Acer', tag: 'Tree' })
  t.strictSame(await service.stored(untagged), { id: untagged, name: 'Abies', tag: null })
  t.equal(await service.stored(removed), undefined)
})

t.test('the changes of a list are in the feed, each as if it were a request', async (t) => {
  const [changed, removed, unchanged] = await store(3)
  const created = ++latest
  const cursor = await latestCursor(service)
  await send([
    { op: 'remove', id: removed },
    { op: 'create', id: created, name: 'Quercus' },
    { op: 'update', id: unchanged, name: 'Abies' },
    { op: 'update', id: changed, name: 'Acer' },
  ])
  const changes = await readAllChanges(service, `?after=${cursor}`)
  const inOrder = changes.toSorted((one, other) => (one.id < other.id ? -1 : 1))
  t.match(inOrder, [
    { id: changed, type: 'changed', plant: { name: 'Acer', tag: 'Tree' } },
    { id: removed, type: 'removed' },
    { id: created, type: 'created', plant: { name: 'Quercus' } },
  ])
  t.equal(changes.length, 3)
})

/** Why a change is refused, with its status, its members and the message. */
const REFUSED: [what: string, status: number, members: object, error: number, problem: string][] = [
  [
    'a create of a different plant',
    409,
    { op: 'create', name: 'Acer' },
    40901,
    'already exists with different content',
  ],
  ...['replace', 'update', 'remove'].flatMap((op): typeof REFUSED => {
    const name = op === 'remove' ? {} : { name: 'Acer' }
    return [
      [
        `${op} with another version`,
        412,
        { op, ...name, ifMatch: '"other"' },
        41201,
        'has changed; fetch it again',
      ],
    ]
  }),
]
for (const [what, status, members, error, problem] of REFUSED) {
  t.test(`${what} is named by its index, and nothing is changed`, async (t) => {
    const [first, second] = await store(2)
    const list = [
      { op: 'create', id: ++latest, name: 'Quercus' },
      { op: 'remove', id: first },
      { ...members, id: second },
    ]
    const answer = await assertUnchanged(t, [first, second], list)
    t.equal(answer.status, status)
    t.strictSame(answer.json, { error, message: `body/2: plant ${second} ${problem}` })
    t.equal(await service.stored(latest), undefined)
  })
}

for (const members of [
  { op: 'replace', name: 'Acer' },
  { op: 'update', name: 'Acer' },
  { op: 'remove', ifMatch: ETAG },
]) {
  t.test(`${JSON.stringify(members)} of a plant that does not exist gets 404`, async (t) => {
    const [first] = await store(1)
    const id = ++latest
    const list = [
      { op: 'remove', id: first },
      { ...members, id },
    ]
    const answer = await assertUnchanged(t, [first], list)
    t.equal(answer.status, 404)
    t.strictSame(answer.json, { error: 40402, message: `body/1: plant ${id} does not exist` })
    t.equal(await service.stored(id), undefined)
  })
}

t.test('of several refused changes, the first in the list is named', async (t) => {
  const [first, second] = await store(2)
  const refused = [
    { op: 'create', id: second, name: 'Acer' },
    { op: 'update', id: MAX - 7n, name: 'Acer' },
    { op: 'remove', id: first, ifMatch: '"other"' },
  ]
  for (const [list, status] of [
    [refused, 409],
    [refused.slice(1), 404],
    [refused.toReversed(), 412],
  ] as const) {
    const answer = await assertUnchanged(t, [first, second], list)
    t.match(answer, { status, json: { message: /^body\/0: / } })
  }
})

t.test('each id occurs once, whatever the changes', async (t) => {
  const [first, second] = await store(2)
  const message = `body/2: body/1 already changes plant ${second}`
  for (const [one, other] of [
    [{ op: 'remove' }, { op: 'remove' }],
    [{ op: 'remove' }, { op: 'create', name: 'Acer' }],
    [
      { op: 'update', name: 'a' },
      { op: 'update', tag: 'b' },
    ],
  ]) {
    const list = [
      { op: 'remove', id: first },
      { ...one, id: second },
      { ...other, id: second },
    ]
    const answer = await assertUnchanged(t, [first, second], list)
    t.match(answer, { status: 400, json: { error: 40006, message } })
  }
  const spelled = `[{"op":"remove","id":${second}},{"op":"remove","id":${second}.0}]`
  const answer = await assertUnchanged(t, [first, second], spelled)
  t.match(answer.json, { error: 40006, message: `body/1: body/0 already changes plant ${second}` })
})

t.test('an id can be written with an exponent or a fraction of zero', async (t) => {
  const names = ['1e9', '1000000001.0']
  await send(`[${names.map((id) => `{"op":"create","id":${id},"name":"${id}"}`)}]`)
  for (const name of names) t.equal((await service.stored(BigInt(Number(name))))?.name, name)
})

t.test('of two concurrent lists with the same versions, one is applied as a whole', async (t) => {
  const ids = await store(5)
  const rename = (name: string) => ids.map((id) => ({ op: 'update', id, name, ifMatch: ETAG }))
  const answers = await Promise.all(['a', 'b'].map((name) => send(rename(name))))
  t.strictSame(answers.map(({ status }) => status).sort(), [200, 412])
  const path = `/plants?${ids.map((id) => `id=${id}`).join('&')}`
  const { json } = await service.call({ method: 'GET', path })
  const names = (json as { name: string }[]).map(({ name }) => name)
  t.strictSame(names, Array(5).fill(answers[0]?.status === 200 ? 'a' : 'b'))
})

/** Sends a list that must leave these plants, which are as `store` leaves them, and all others as they are. */
async function assertUnchanged(t: Test, ids: readonly bigint[], list: unknown) {
  const count = await service.count()
  const answer = await send(list)
  t.equal(await service.count(), count)
  for (const id of ids) {
    t.strictSame(await service.stored(id), { id, name: 'Abies', tag: 'Tree' })
  }
  return answer
}
