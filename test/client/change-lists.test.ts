/** `changePlants`: what it sends, and the result of a retried list when an earlier attempt may have taken effect. */
import t, { type Test } from 'tap'
import type { PlantChange } from '../../client/client.ts'
import { importPlants } from '../../src/transfer/import.ts'
import { type Service, startService } from '../helpers/service.ts'
import {
  AMBIGUOUS,
  answered,
  busy,
  connectThrough,
  type Fault,
  lost,
  lostResponse,
  passed,
  thrownBy,
  tooLarge,
} from './faulty-proxy.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

/** Two new plants, the entity tag of both, and a client whose requests meet these faults, in order. */
let latest = 0n
const prepare = async (t: Test, ...faults: Fault[]) => {
  const [first, second] = [++latest, ++latest]
  const plants = [first, second].map((id) => ({ id, name: 'before' }))
  await importPlants(service.store, plants, 'stop')
  return { first, second, ifMatch: '"name=before"', ...(await connectThrough(t, service, faults)) }
}

t.test('a list is sent as one request', async (t) => {
  const { client, proxy, first, second, ifMatch } = await prepare(t)
  const created = 2n ** 63n - 1n
  const counts = await client.changePlants([
    { op: 'create', id: created, name: 'created' },
    { op: 'replace', id: first, name: 'replaced', tag: 'Tree', ifMatch },
    { op: 'remove', id: second },
    { op: 'remove', id: -1n },
  ])
  t.strictSame(counts, { created: 1, changed: 1, removed: 1, unchanged: 1 })
  t.match(await service.stored(created), { name: 'created' })
  t.match(await service.stored(first), { name: 'replaced', tag: 'Tree' })
  t.equal(await service.stored(second), undefined)
  t.strictSame(
    proxy.requests.map(({ line }) => line),
    ['PATCH /plants'],
  )
})

t.test('no changes need no request, nor does an id that is not a bigint', async (t) => {
  const { client, proxy, first } = await prepare(t)
  const wrong = { op: 'remove', id: 4 } as unknown as PlantChange
  await t.rejects(client.changePlants([{ op: 'remove', id: first }, wrong]), TypeError)
  const counts = { created: 0, changed: 0, removed: 0, unchanged: 0 }
  t.strictSame(await client.changePlants([]), counts)
  t.strictSame(proxy.requests, [])
})

t.test('a refused list throws an error that names the change, and is not split', async (t) => {
  const { client, first, second, ifMatch } = await prepare(t)
  const remove: PlantChange = { op: 'remove', id: first }
  const cases: [PlantChange[], condition: string, message: RegExp][] = [
    [[remove, { op: 'create', id: second, name: 'x' }], 'plant-exists', /^body\/1: plant/],
    [[remove, { op: 'update', id: -1n, name: 'x' }], 'plant-not-found', /^body\/1: plant -1/],
    [[remove, { op: 'remove', id: second, ifMatch: '"x"' }], 'plant-changed', /^body\/1: plant/],
    [
      [remove, { op: 'replace', id: first, name: 'x', ifMatch }],
      'repeated-id',
      /^body\/1: body\/0/,
    ],
    [Array(1001).fill(remove), 'invalid-body', /1000 or fewer items/],
  ]
  for (const [changes, condition, message] of cases) {
    const error = await thrownBy(client.changePlants(changes))
    t.match(error, { name: 'PlantStoreError', condition, message })
  }
  t.match(await service.stored(first), { name: 'before' })
})

t.test('a list without ifMatch succeeds in a retry, whatever an earlier attempt did', async (t) => {
  for (const fault of [...Object.values(AMBIGUOUS), lost]) {
    const { client, first, second } = await prepare(t, fault)
    const { created, changed, removed, unchanged } = await client.changePlants([
      { op: 'create', id: ++latest, name: 'created' },
      { op: 'update', id: first, name: 'changed' },
      { op: 'remove', id: second },
    ])
    t.equal(created + changed + removed + unchanged, 3)
    t.match(await service.stored(first), { name: 'changed' })
    t.equal(await service.stored(second), undefined)
  }
})

t.test('a list with ifMatch succeeds in a retry if the first attempt had no effect', async (t) => {
  for (const fault of [lost, answered(...busy), answered(429), answered(502)]) {
    const { client, first, ifMatch } = await prepare(t, fault)
    const counts = await client.changePlants([{ op: 'remove', id: first, ifMatch }])
    t.match(counts, { removed: 1 })
  }
})

t.test(
  'a list with ifMatch throws UnknownOutcomeError if an earlier attempt may have changed the plants',
  async (t) => {
    const cases: [(id: bigint, ifMatch: string) => PlantChange, RegExp][] = [
      [(id, ifMatch) => ({ op: 'replace', id, name: 'x', ifMatch }), /plant \d+ has changed/],
      [(id, ifMatch) => ({ op: 'update', id, name: 'x', ifMatch }), /plant \d+ has changed/],
      [(id, ifMatch) => ({ op: 'remove', id, ifMatch }), /plant \d+ does not exist$/],
    ]
    for (const [change, problem] of cases) {
      for (const [cause, fault] of Object.entries(AMBIGUOUS)) {
        const { client, first, second, ifMatch } = await prepare(t, fault)
        const list = [{ op: 'remove', id: second } as const, change(first, ifMatch)]
        const error = await thrownBy(client.changePlants(list))
        t.match(error, {
          name: 'UnknownOutcomeError',
          message: /^the change may have taken effect: .*, then body\/1: /,
          cause: { name: cause },
        })
        t.match(error, { message: problem })
        t.equal(await service.stored(second), undefined, 'it took effect')
      }
    }
  },
)

/** Another client changes a plant before the request. */
const overtaken =
  (change: () => Promise<unknown>): Fault =>
  async (exchange) => {
    await change()
    return passed(exchange)
  }

t.test(
  'a list with ifMatch throws UnknownOutcomeError if a created plant was changed meanwhile',
  async (t) => {
    const created = ++latest
    const rename = () => service.store.update(created, { name: 'by another' })
    const { client, first, ifMatch } = await prepare(t, lostResponse, overtaken(rename))
    const error = await thrownBy(
      client.changePlants([
        { op: 'create', id: created, name: 'created' },
        { op: 'remove', id: first, ifMatch },
      ]),
    )
    t.match(error, { name: 'UnknownOutcomeError', message: /body\/0: .* already exists/ })
  },
)

t.test('a list that is too large is not split, and throws an error', async (t) => {
  const { client, first, second, proxy } = await prepare(t, tooLarge)
  const list: PlantChange[] = [first, second].map((id) => ({ op: 'update', id, tag: 'Tree' }))
  const error = await thrownBy(client.changePlants(list))
  const message = /more than 8388608 bytes of stored plants/
  t.match(error, { name: 'PlantStoreError', condition: 'changes-too-large', status: 413, message })
  t.equal(proxy.requests.length, 1)
})

t.test('a list that is too large in a retry may have taken effect', async (t) => {
  const { client, first, second } = await prepare(t, lostResponse, tooLarge)
  const list: PlantChange[] = [first, second].map((id) => ({ op: 'update', id, tag: 'Tree' }))
  const error = await thrownBy(client.changePlants(list))
  t.match(error, { name: 'UnknownOutcomeError', cause: { name: 'ConnectionError' } })
  t.match(await service.stored(first), { tag: 'Tree' })
})

t.test('a refusal is certain if no earlier attempt can have taken effect', async (t) => {
  const { client, first, second, ifMatch, proxy } = await prepare(t)
  for (const faults of [[], [answered(429)]]) {
    for (const [change, condition] of [
      [{ op: 'remove', id: -1n, ifMatch }, 'plant-not-found'],
      [{ op: 'remove', id: first, ifMatch: '"x"' }, 'plant-changed'],
      [{ op: 'create', id: first, name: 'x' }, 'plant-exists'],
    ] as const) {
      proxy.faults = [...faults]
      const list = [{ op: 'remove', id: second, ifMatch } as const, change]
      const error = await thrownBy(client.changePlants(list))
      t.match(error, { name: 'PlantStoreError', condition })
    }
  }
})

t.test('a retried list without ifMatch throws the refusal of its last attempt', async (t) => {
  const { client, first } = await prepare(t)
  const remove = () => service.store.remove(first)
  const { client: unlucky } = await connectThrough(t, service, [lost, overtaken(remove)])
  const update: PlantChange = { op: 'update', id: first, name: 'x' }
  t.match(await client.changePlants([update]), { changed: 1 })
  const error = await thrownBy(unlucky.changePlants([update]))
  t.match(error, { name: 'PlantStoreError', condition: 'plant-not-found' })
})

t.test('a retried list with ifMatch throws a 404 that does not come from the store', async (t) => {
  const { client, first, ifMatch } = await prepare(t, lost, answered(404, {}, '<html>'))
  const error = await thrownBy(client.changePlants([{ op: 'remove', id: first, ifMatch }]))
  t.match(error, { name: 'UnexpectedAnswerError', status: 404 })
})
