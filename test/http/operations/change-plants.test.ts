import t, { type Test } from 'tap'
import { importPlants } from '../../helpers/plants/import-plants.ts'
import { type Service, startService } from '../../helpers/service/service.ts'

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

const EXISTS = 'already exists with different content'
const CHANGED = 'has changed; fetch it again'
const MISSING = 'does not exist'

/** Why a change is refused, with its members, the status and error, and the message. */
const REFUSED: [members: object, status: number, error: number, problem: string][] = [
  [{ op: 'create', name: 'Acer' }, 409, 40901, EXISTS],
  [{ op: 'replace', name: 'Acer', ifMatch: '"other"' }, 412, 41201, CHANGED],
  [{ op: 'update', name: 'Acer', ifMatch: '"other"' }, 412, 41201, CHANGED],
  [{ op: 'remove', ifMatch: '"other"' }, 412, 41201, CHANGED],
  [{ op: 'replace', name: 'Acer', ifContent: { name: 'Abies' } }, 412, 41201, CHANGED],
  [{ op: 'update', name: 'Acer', ifContent: { name: 'Abies', tag: '' } }, 412, 41201, CHANGED],
  [{ op: 'remove', ifContent: { name: 'abies', tag: 'Tree' } }, 412, 41201, CHANGED],
  [{ op: 'remove', ifContent: { name: 'Abies', tag: 'Tree' } }, 404, 40402, MISSING],
  [{ op: 'replace', name: 'Acer' }, 404, 40402, MISSING],
  [{ op: 'update', name: 'Acer' }, 404, 40402, MISSING],
  [{ op: 'remove', ifMatch: ETAG }, 404, 40402, MISSING],
]
for (const [members, status, error, problem] of REFUSED) {
  t.test(`${JSON.stringify(members)} that ${problem} changes nothing`, async (t) => {
    const [first, second] = await store(2)
    const id = status === 404 ? ++latest : second
    const list = [
      { op: 'create', id: ++latest, name: 'Quercus' },
      { op: 'remove', id: first },
      { ...members, id },
    ]
    const answer = await assertUnchanged(t, [first, second], list)
    t.equal(answer.status, status)
    t.strictSame(answer.json, { error, message: `body/2: plant ${id} ${problem}` })
  })
}

t.test('a change is made if the plant has the content that it expects', async (t) => {
  const [first, second, third] = await store(3)
  const ifContent = { name: 'Abies', tag: 'Tree' }
  const list = [
    { op: 'replace', id: first, name: 'Acer', ifContent },
    { op: 'update', id: second, tag: null, ifContent },
    { op: 'remove', id: third, ifContent },
  ]
  t.match(await send(list), { status: 200, json: { changed: 2, removed: 1 } })
  t.match(await send(list), { status: 412, json: { message: /^body\/0: / } })
})

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
