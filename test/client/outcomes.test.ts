/** The result of a retried change when an earlier attempt may have taken effect. */

import t, { type Test } from 'tap'
import type { ChangeOptions, PlantStoreClient } from '../../client/client.ts'
import { importPlants } from '../../src/transfer/import.ts'
import { type Service, startService } from '../helpers/service.ts'
import {
  AMBIGUOUS,
  answered,
  busy,
  connectThrough,
  type Fault,
  lost,
  passed,
  thrownBy,
} from './faulty-proxy.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

const changed = { name: 'changed', tag: 'Tree' }

type Change = (client: PlantStoreClient, id: bigint, options?: ChangeOptions) => Promise<unknown>

const UPDATES: Record<string, Change> = {
  replacePlant: (client, id, options) => client.replacePlant(id, changed, options),
  updatePlant: (client, id, options) => client.updatePlant(id, { name: 'changed' }, options),
}
const CHANGES: Record<string, Change> = {
  ...UPDATES,
  deletePlant: (client, id, options) => client.deletePlant(id, options),
}

/** A new plant, its entity tag, and a client whose requests meet these faults, in order. */
let latest = 0n
const prepare = async (t: Test, ...faults: Fault[]) => {
  const id = ++latest
  await importPlants(service.store, [{ id, name: 'before', tag: 'Tree' }], 'stop')
  const { client, proxy } = await connectThrough(t, service)
  const { etag: ifMatch } = await client.getPlant(id)
  proxy.faults = faults
  return { id, client, ifMatch, stored: () => service.stored(id) }
}

/** Another client changes the plant first. */
const overtaken =
  (after: Fault): Fault =>
  async (exchange) => {
    await service.store.update(latest, { name: 'by another' }, undefined)
    return after(exchange)
  }

for (const [name, change] of Object.entries(CHANGES)) {
  t.test(
    `${name} with ifMatch succeeds in a retry if the first attempt had no effect`,
    async (t) => {
      for (const fault of [lost, answered(...busy), answered(429), answered(502)]) {
        const { id, client, ifMatch, stored } = await prepare(t, fault)
        await change(client, id, { ifMatch })
        t.strictSame(await stored(), name === 'deletePlant' ? undefined : { id, ...changed })
      }
    },
  )

  t.test(`${name} with ifMatch throws plant-changed if another client was first`, async (t) => {
    for (const faults of [[overtaken(passed)], [answered(429), overtaken(passed)]]) {
      const { id, client, ifMatch, stored } = await prepare(t, ...faults)
      const error = await thrownBy(change(client, id, { ifMatch }))
      t.match(error, { name: 'PlantStoreError', condition: 'plant-changed' })
      t.match(await stored(), { name: 'by another' })
    }
  })
}

for (const [name, change] of Object.entries(UPDATES)) {
  t.test(
    `${name} with ifMatch throws UnknownOutcomeError if an earlier attempt may have changed the plant`,
    async (t) => {
      for (const [cause, fault] of Object.entries(AMBIGUOUS)) {
        const { id, client, ifMatch, stored } = await prepare(t, fault)
        const error = await thrownBy(change(client, id, { ifMatch }))
        t.match(error, {
          name: 'UnknownOutcomeError',
          message: /^the change may have taken effect: .*, then plant \d+ has changed/,
          cause: { name: cause },
        })
        t.strictSame(await stored(), { id, ...changed })
      }
    },
  )

  t.test(
    `${name} with ifMatch throws UnknownOutcomeError even if another client changed the plant`,
    async (t) => {
      const { id, client, ifMatch } = await prepare(t, lost, answered(429), overtaken(passed))
      const error = await thrownBy(change(client, id, { ifMatch }))
      t.match(error, { name: 'UnknownOutcomeError', cause: { name: 'ConnectionError' } })
    },
  )
}

t.test('deletePlant succeeds if a retry finds the plant gone', async (t) => {
  for (const fault of Object.values(AMBIGUOUS)) {
    for (const conditional of [false, true]) {
      const { id, client, ifMatch, stored } = await prepare(t, fault)
      await client.deletePlant(id, conditional ? { ifMatch } : {})
      t.equal(await stored(), undefined)
    }
  }
})

t.test('deletePlant throws plant-not-found if no attempt can have removed the plant', async (t) => {
  for (const faults of [[], [answered(429)]]) {
    const { client } = await prepare(t, ...faults)
    t.match(await thrownBy(client.deletePlant(-1n)), { condition: 'plant-not-found' })
  }
})

t.test('deletePlant throws a 404 of a retry unless it is plant-not-found', async (t) => {
  const elsewhere = '{"error":40401,"message":"unknown path /"}'
  for (const [body, name] of [
    [elsewhere, 'PlantStoreError'],
    ['<html>', 'UnexpectedAnswerError'],
  ]) {
    const { id, client, stored } = await prepare(t, lost, answered(404, {}, body))
    t.match(await thrownBy(client.deletePlant(id)), { name, status: 404 })
    t.ok(await stored())
  }
})
