/** Tests of a client against a store that fails on demand. Each throws if the client makes a certain mistake. */
import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { createClient } from '../../../client/client.ts'
import type { RunningPlantStore } from '../../../src/index.ts'
import { type Client, Copy } from './client.ts'

/** @param store without plants and without faults */
export type Check = (client: Client, store: RunningPlantStore) => Promise<void>

const abies = { id: 4n, name: 'Abies' }

export const retriesALostResponse: Check = async (client, store) => {
  store.setFaults([{ operation: 'createPlant', first: 1, cut: 'before-response' }])
  await client.create(abies)
  assert.equal(store.requests.length, 2)
}

export const givesUp: Check = async (client, store) => {
  store.setFaults([{ operation: 'createPlant', first: 20, cut: 'before-work' }])
  await assert.rejects(client.create(abies))
}

export const timesOut: Check = async (client, store) => {
  store.setFaults([{ operation: 'createPlant', first: 1, delayMs: 600_000 }])
  let isDone = false
  const done = () => {
    isDone = true
  }
  client.create(abies).then(done, () => {})
  // Many short waits, because a long one can end before the client's after a machine has stalled.
  for (let turn = 0; turn < 30 && !isDone; turn++) await wait(100)
  assert.ok(isDone)
}

export const acceptsARefusal: Check = async (client, store) => {
  store.setFaults([{ operation: 'createPlant', error: 'invalid-body' }])
  await assert.rejects(client.create(abies))
  assert.equal(store.requests.length, 1)
}

export const keepsTheId: Check = async (client, store) => {
  store.setFaults([{ operation: 'createPlant', first: 1, cut: 'before-response' }])
  await client.create(abies)
  assert.deepEqual(
    store.requests.map(({ ids }) => ids),
    [[4n], [4n]],
  )
}

export const honorsRetryAfter: Check = async (client, store) => {
  store.setFaults([{ operation: 'createPlant', first: 1, error: 'store-busy', retryAfter: 1 }])
  await client.create(abies)
  const [first = 0, second = 0] = store.requests.map(({ at }) => Date.parse(at))
  assert.ok(second - first >= 1000)
}

export const overwritesNobody: Check = async (client, store) => {
  const another = createClient(store)
  await another.createPlant(abies)
  store.setFaults([
    { operation: 'updatePlant', nth: 1, cut: 'before-work' },
    { name: 'retry', operation: 'updatePlant', nth: 2, delayMs: 500 },
  ])
  const renaming = assert.rejects(client.rename(4n, 'Abies alba'))
  while (store.requests.at(-1)?.fault !== 'retry') await wait(10)
  await another.replacePlant(4n, { name: 'Abies nigra' })
  await renaming
  assert.equal((await another.getPlant(4n)).plant.name, 'Abies nigra')
}

export const recognizesItsOwnChange: Check = async (client, store) => {
  await createClient(store).createPlant(abies)
  store.setFaults([{ operation: 'updatePlant', first: 1, cut: 'before-response' }])
  await client.rename(4n, 'Abies alba')
  assert.equal((await client.list())[0]?.name, 'Abies alba')
}

/** Ids from 1, more than a page has. */
async function createMany(store: RunningPlantStore): Promise<void> {
  const plants = Array.from({ length: 250 }, (_, index) => ({
    id: BigInt(index + 1),
    name: 'Abies',
  }))
  await createClient(store).createPlants(plants)
}

export const listsAllPages: Check = async (client, store) => {
  await createMany(store)
  store.setFaults([{ operation: 'listPlants', nth: 2, error: 'service-busy', retryAfter: 1 }])
  assert.equal((await client.list()).length, 250)
}

export const noticesAListThatEndsEarly: Check = async (client, store) => {
  await createMany(store)
  store.setFaults([{ operation: 'listPlants', nth: 3, cut: 'in-body' }])
  assert.equal((await client.list()).length, 250)
}

export const keepsIdsExact: Check = async (client, store) => {
  await createClient(store).createPlant({ id: 2n ** 53n + 1n, name: 'Abies' })
  const [plant] = await client.list()
  await client.rename(BigInt(plant?.id ?? 0), 'Abies alba')
  assert.deepEqual(store.requests.at(-1)?.ids, [2n ** 53n + 1n])
}

export const followsACutStream: Check = async (client, store) => {
  await createMany(store)
  store.setFaults([{ operation: 'listChanges', first: 3, cut: 'after-events', events: 2 }])
  const copy = new Copy()
  await client.follow(copy, 250n)
  assert.deepEqual(copy.applied, [...copy.names.keys()])
}

export const copiesAgainAfterAnExpiredCursor: Check = async (client, store) => {
  await createMany(store)
  store.setFaults([{ operation: 'listChanges', first: 1, error: 'cursor-expired' }])
  const copy = new Copy()
  copy.names.set(-1n, 'removed long ago')
  await client.follow(copy, 250n)
  assert.deepEqual([...copy.names.keys()].slice(0, 2), [1n, 2n])
  assert.equal(copy.names.size, 250)
}
