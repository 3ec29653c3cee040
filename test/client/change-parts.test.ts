/** `changePlantsInParts`: how it splits changes, and what it reports if a part fails. */

import t, { type Test } from 'tap'
import { BatchError, type PlantChange } from '../../client/client.ts'
import { known } from '../../core/known.ts'
import { createIn, removeFrom } from '../helpers/plants/single-changes.ts'
import { type Service, startService } from '../helpers/service/service.ts'
import {
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
t.before(async () => {
  service = await startService(t)
})

const connect = (t: Test, faults?: Fault[], retries = 0) =>
  connectThrough(t, service, faults, { retries })

/** Each test has its own ids. */
let latest = 2n ** 53n
const createsOf = (count: number, name = 'Abies'): PlantChange[] =>
  Array.from({ length: count }, () => ({ op: 'create', id: ++latest, name }))

const areStored = (changes: readonly PlantChange[], indexes: readonly number[]) =>
  Promise.all(
    indexes.map(async (index) => (await service.stored(known(changes[index]).id)) !== undefined),
  )

const NONE = { created: 0, changed: 0, removed: 0, unchanged: 0 }

t.test('no changes are no request, nor is an id that is not a bigint', async (t) => {
  const { client, proxy } = await connect(t)
  const wrong = { op: 'remove', id: 4 } as unknown as PlantChange
  await t.rejects(client.changePlantsInParts([...createsOf(1000), wrong]), TypeError)
  t.strictSame(await client.changePlantsInParts([]), NONE)
  t.equal(proxy.requests.length, 0)
})

t.test('changes are split after 1,000, and made in order', async (t) => {
  const { client, proxy } = await connect(t)
  const creates = createsOf(1001)
  t.strictSame(await client.changePlantsInParts(creates), { ...NONE, created: 1001 })
  t.equal(proxy.requests.length, 2)
  const removals = creates.map(({ id }): PlantChange => ({ op: 'remove', id }))
  const { id } = known(creates[0])
  // In the second part: the removal of the same plant is in the first.
  const again: PlantChange = { op: 'create', id, name: 'again' }
  const counts = await client.changePlantsInParts([...removals, again])
  t.strictSame(counts, { ...NONE, created: 1, removed: 1001 })
  t.match(await service.stored(id), { name: 'again' })
  t.match(new Set(proxy.requests.map(({ line }) => line)), new Set(['PATCH /plants']))
})

t.test('a part is at most 1 MiB of JSON', async (t) => {
  const { client, proxy } = await connect(t)
  await client.changePlantsInParts(createsOf(3, '€'.repeat(2 ** 17)))
  t.equal(proxy.requests.length, 2)
})

t.test('a part that is refused as too large is halved', async (t) => {
  const { client, proxy } = await connect(t, [tooLarge, answered(413), passed, lostResponse], 1)
  const changes = createsOf(1005)
  const counts = await client.changePlantsInParts(changes)
  t.strictSame(counts, { ...NONE, created: 755, unchanged: 250 })
  t.equal(proxy.requests.length, 7, '1000, 500, 250, 250 twice, 500 and 5')
})

t.test('a change that is too large fails alone', async (t) => {
  const { client, proxy } = await connect(t, [tooLarge, tooLarge])
  const error = await thrownBy(client.changePlantsInParts(createsOf(2)))
  const message = /^change 0 failed: the list affects more than/
  t.match(error, { message, start: 0, end: 1, cause: { condition: 'changes-too-large' } })
  t.equal(proxy.requests.length, 2)
})

t.test('an error names the part that failed, and the rest can be sent after it', async (t) => {
  const { client, proxy } = await connect(t)
  const changes = createsOf(2100)
  const { id } = known(changes[1017])
  await createIn(service.store, { id, name: 'Acer' })
  const error = await thrownBy(client.changePlantsInParts(changes))
  t.ok(error instanceof BatchError)
  const reason = `body/17: plant ${id} already exists with different content`
  t.match(error, {
    message: `changes 1000 to 1999 failed: ${reason}`,
    start: 1000,
    end: 2000,
    counts: { ...NONE, created: 1000 },
    cause: { name: 'ServiceError', condition: 'plant-exists', message: reason },
  })
  t.equal(proxy.requests.length, 2, 'later parts are not sent')
  t.same(await areStored(changes, [999, 1000, 1999, 2000]), [true, false, false, false])

  const { start } = error as BatchError
  const rest = changes.slice(start).filter((change) => change.id !== id)
  t.strictSame(await client.changePlantsInParts(rest), { ...NONE, created: 1099 })
})

t.test('a part without a response may have been made, and can be sent again', async (t) => {
  const { client, proxy } = await connect(t, [passed, lostResponse])
  const changes = createsOf(1002)
  const error = await thrownBy(client.changePlantsInParts(changes))
  const advice = /; this part may have been stored, and sending it again is safe$/
  t.match(error, { message: advice, start: 1000, end: 1002, cause: { name: 'ConnectionError' } })
  const { start } = error as BatchError
  const counts = await client.changePlantsInParts(changes.slice(start))
  t.strictSame(counts, { ...NONE, unchanged: 2 })
  t.equal(proxy.requests.length, 3)
})

/** 1,001 updates of new plants, the last of which is a part of its own. */
const prepareUpdates = async (indexWithContent: number): Promise<PlantChange[]> => {
  const creates = createsOf(1001)
  const { client } = await connect(t)
  await client.changePlantsInParts(creates)
  const ifContent = { name: 'Abies' }
  return creates.map(({ id }, index) => ({
    op: 'update',
    id,
    name: 'Acer',
    ...(index === indexWithContent && { ifContent }),
  }))
}

t.test('a part with preconditions can have an unknown outcome', async (t) => {
  const changes = await prepareUpdates(1000)
  const { client } = await connect(t, [passed, lostResponse], 1)
  t.match(await thrownBy(client.changePlantsInParts(changes)), {
    message: /^change 1000 failed: the change may have taken effect: .* again is safe$/,
    counts: { changed: 1000 },
    cause: { name: 'UnknownOutcomeError', cause: { name: 'ConnectionError' } },
  })
})

t.test('the preconditions of one part do not make another one uncertain', async (t) => {
  const changes = await prepareUpdates(0)
  await removeFrom(service.store, known(changes[1000]).id)
  const { client } = await connect(t, [passed, lost], 1)
  t.match(await thrownBy(client.changePlantsInParts(changes)), {
    start: 1000,
    cause: { name: 'ServiceError', condition: 'plant-not-found' },
  })
})

t.test('an abort between two parts is thrown unchanged', async (t) => {
  const controller = new AbortController()
  const reason = new Error('stopped')
  const { client, proxy } = await connect(t, [passed, () => controller.abort(reason)])
  const changes = createsOf(2100)
  const { signal } = controller
  t.equal(await thrownBy(client.changePlantsInParts(changes, { signal })), reason)
  t.equal(proxy.requests.length, 2)
  t.same(await areStored(changes, [0, 1000, 2000]), [true, false, false])
})
