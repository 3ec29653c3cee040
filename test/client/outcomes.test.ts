/** The result of a retried change, or list of changes, when an earlier attempt may have taken effect. */

import t from 'tap'
import type { PlantChange, PlantStoreClient } from '../../client/client.ts'
import { known } from '../../core/known.ts'
import { importPlants } from '../helpers/plants/import-plants.ts'
import { removeFrom, updateIn } from '../helpers/plants/single-changes.ts'
import { type Service, startService } from '../helpers/service/service.ts'
import {
  AMBIGUOUS,
  answered,
  connectThrough,
  type Fault,
  lost,
  lostResponse,
  passed,
  thrownBy,
  tooLarge,
} from './faulty-proxy.ts'

let service: Service
let shared: Awaited<ReturnType<typeof connectThrough>>
t.before(async () => {
  service = await startService(t)
  shared = await connectThrough(t, service)
})

const after = { name: 'after', tag: 'Tree' }

type Change = (client: PlantStoreClient, id: bigint, ifMatch?: string) => Promise<unknown>

const list =
  (change: (id: bigint) => PlantChange): Change =>
  (client, id, ifMatch) => {
    const only = change(id)
    const conditional = only.op === 'create' || ifMatch === undefined ? only : { ...only, ifMatch }
    return client.changePlants([conditional])
  }

/** Each change of a plant, and what it leaves. */
const CHANGES: Record<string, [change: Change, stored: object | undefined]> = {
  replacePlant: [(client, id, ifMatch) => client.replacePlant(id, after, { ifMatch }), after],
  updatePlant: [(client, id, ifMatch) => client.updatePlant(id, after, { ifMatch }), after],
  deletePlant: [(client, id, ifMatch) => client.deletePlant(id, { ifMatch }), undefined],
  'a list that replaces': [list((id) => ({ op: 'replace', id, ...after })), after],
  'a list that updates': [list((id) => ({ op: 'update', id, ...after })), after],
  'a list that removes': [list((id) => ({ op: 'remove', id })), undefined],
}

/** A new plant, its entity tag, and the client, whose requests meet these faults, in order. */
let latest = 0n
const prepare = async (...faults: Fault[]) => {
  const id = ++latest
  await importPlants(service.store, [{ id, name: 'before', tag: 'Tree' }], 'stop')
  const { client, proxy } = shared
  proxy.faults = faults
  proxy.requests.length = 0
  const ifMatch = '"name=before&tag=Tree"'
  return { id, client, proxy, ifMatch, stored: () => service.stored(id) }
}

/** Another client changes the latest plant before the request. */
const overtaken =
  (
    id = latest,
    change: () => unknown = () => updateIn(service.store, id, { name: 'by another' }),
  ) =>
  async (exchange: Parameters<Fault>[0]) => {
    await change()
    return passed(exchange)
  }

const beforeWork = [lost, answered(429)]

for (const [name, [change, left]] of Object.entries(CHANGES)) {
  t.test(`${name} with ifMatch succeeds in a retry if nothing was changed before`, async (t) => {
    for (const fault of beforeWork) {
      const { id, client, ifMatch, stored } = await prepare(fault)
      await change(client, id, ifMatch)
      t.strictSame(await stored(), left && { id, ...left })
    }
  })

  t.test(`${name} with ifMatch throws plant-changed if another client was first`, async (t) => {
    for (const faults of [[], [answered(429)]]) {
      const { id, client, proxy, ifMatch, stored } = await prepare()
      proxy.faults = [...faults, overtaken(id)]
      const error = await thrownBy(change(client, id, ifMatch))
      t.match(error, { name: 'ServiceError', condition: 'plant-changed' })
      t.match(await stored(), { name: 'by another' })
    }
  })

  t.test(`${name} without ifMatch succeeds in a retry, whatever the first did`, async (t) => {
    for (const fault of Object.values(AMBIGUOUS)) {
      const { id, client, stored } = await prepare(fault)
      await change(client, id)
      t.strictSame(await stored(), left && { id, ...left })
    }
  })

  t.test(`${name} with ifMatch may have taken effect in an earlier attempt`, async (t) => {
    for (const [cause, fault] of Object.entries(AMBIGUOUS)) {
      const { id, client, ifMatch, stored } = await prepare(fault)
      const result = change(client, id, ifMatch)
      if (name === 'deletePlant') await result
      else {
        const problem = left ? 'has changed' : 'does not exist$'
        t.match(await thrownBy(result), {
          name: 'UnknownOutcomeError',
          message: new RegExp(
            `^the change may have taken effect: .*, then .*plant ${id} ${problem}`,
          ),
          cause: { name: cause },
        })
      }
      t.strictSame(await stored(), left && { id, ...left })
    }
    const { id, client, proxy, ifMatch } = await prepare()
    proxy.faults = [lost, answered(429), overtaken(id)]
    const error = await thrownBy(change(client, id, ifMatch))
    t.match(error, { name: 'UnknownOutcomeError', cause: { name: 'ConnectionError' } })
  })
}

t.test('deletePlant throws plant-not-found if no attempt can have removed the plant', async (t) => {
  for (const faults of [[], [answered(429)]]) {
    const { client } = await prepare(...faults)
    t.match(await thrownBy(client.deletePlant(-1n)), { condition: 'plant-not-found' })
  }
})

t.test('a 404 of a retry is thrown unless it is plant-not-found', async (t) => {
  const elsewhere = '{"error":40401,"message":"unknown path /"}'
  for (const [body, error] of [
    [elsewhere, 'ServiceError'],
    ['<html>', 'UnexpectedResponseError'],
  ]) {
    for (const name of ['deletePlant', 'a list that removes']) {
      const { id, client, ifMatch, stored } = await prepare(lost, answered(404, {}, body))
      const [change] = known(CHANGES[name])
      t.match(await thrownBy(change(client, id, ifMatch)), { name: error, status: 404 })
      t.ok(await stored())
    }
  }
})

t.test('a list is sent as one request', async (t) => {
  const { client, proxy, id, ifMatch, stored } = await prepare()
  const created = 2n ** 63n - 1n
  const counts = await client.changePlants([
    { op: 'create', id: created, name: 'created' },
    { op: 'replace', id, name: 'replaced', ifMatch },
    { op: 'remove', id: -1n },
  ])
  t.strictSame(counts, { created: 1, changed: 1, removed: 0, unchanged: 1 })
  t.match(await service.stored(created), { name: 'created' })
  t.match(await stored(), { name: 'replaced', tag: null })
  t.match(proxy.requests, [{ line: 'PATCH /plants' }])
})

t.test('no changes need no request, nor does an id that is not a bigint', async (t) => {
  const { client, proxy, id } = await prepare()
  const wrong = { op: 'remove', id: 4 } as unknown as PlantChange
  await t.rejects(client.changePlants([{ op: 'remove', id }, wrong]), TypeError)
  const counts = { created: 0, changed: 0, removed: 0, unchanged: 0 }
  t.strictSame(await client.changePlants([]), counts)
  t.strictSame(proxy.requests, [])
})

t.test('a list is refused for certain if no attempt can have taken effect', async (t) => {
  const { client, id, ifMatch, proxy, stored } = await prepare()
  const remove: PlantChange = { op: 'remove', id, ifMatch }
  const cases: [PlantChange[], condition: string, message: RegExp][] = [
    [[remove, { op: 'create', id, name: 'x' }], 'repeated-id', /^body\/1: body\/0/],
    [[remove, { op: 'update', id: -1n, name: 'x' }], 'plant-not-found', /^body\/1: plant -1/],
    [[{ op: 'create', id, name: 'x' }], 'plant-exists', /^body\/0: plant/],
    [Array(1001).fill(remove), 'invalid-body', /1000 or fewer items/],
  ]
  for (const faults of [[], [answered(429)]]) {
    for (const [changes, condition, message] of cases) {
      proxy.faults = [...faults]
      const error = await thrownBy(client.changePlants(changes))
      t.match(error, { name: 'ServiceError', condition, message })
    }
  }
  t.match(await stored(), { name: 'before' })
})

t.test('a list with ifMatch is uncertain if its created plant was changed meanwhile', async (t) => {
  const { client, id, ifMatch, proxy } = await prepare()
  const created = ++latest
  proxy.faults = [lostResponse, overtaken(created)]
  const create: PlantChange = { op: 'create', id: created, name: 'created' }
  const error = await thrownBy(client.changePlants([create, { op: 'remove', id, ifMatch }]))
  t.match(error, { name: 'UnknownOutcomeError', message: /body\/0: .* already exists/ })
})

t.test('a list with ifContent may have taken effect in an earlier attempt', async (t) => {
  const ifContent = { name: 'before', tag: 'Tree' }
  for (const change of [
    { op: 'remove', ifContent },
    { op: 'update', tag: null, ifContent },
  ] as const) {
    const { client, id } = await prepare(lostResponse)
    const error = await thrownBy(client.changePlants([{ ...change, id }]))
    t.match(error, { name: 'UnknownOutcomeError' }, change.op)
    t.match(await thrownBy(client.changePlants([{ ...change, id }])), { name: 'ServiceError' })
  }
})

t.test('a list without ifMatch throws the refusal of its last attempt', async (t) => {
  const { client, id, proxy } = await prepare()
  proxy.faults = [lost, overtaken(id, () => removeFrom(service.store, id))]
  const error = await thrownBy(client.changePlants([{ op: 'update', id, name: 'x' }]))
  t.match(error, { name: 'ServiceError', condition: 'plant-not-found' })
})

t.test('a list that is too large is not split, and throws an error', async (t) => {
  const { client, id, proxy } = await prepare(tooLarge)
  const changes: PlantChange[] = [id, id + 1n].map((id) => ({ op: 'update', id, tag: 'Tree' }))
  t.match(await thrownBy(client.changePlants(changes)), {
    name: 'ServiceError',
    condition: 'changes-too-large',
    status: 413,
    message: /more than 8388608 bytes of stored plants/,
  })
  t.equal(proxy.requests.length, 1)
})

t.test('a list that is too large in a retry may have taken effect', async (t) => {
  const { client, id, stored } = await prepare(lostResponse, tooLarge)
  const error = await thrownBy(client.changePlants([{ op: 'update', id, name: 'larger' }]))
  t.match(error, { name: 'UnknownOutcomeError', cause: { name: 'ConnectionError' } })
  t.match(await stored(), { name: 'larger' })
})
