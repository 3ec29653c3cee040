/** Reading the selected plants. */
import t from 'tap'
import { createClient } from '../../../client/client.ts'
import { INT64_MAX, INT64_MIN } from '../../../core/json/int64.ts'
import type { Filter } from '../../../page/list/filter.ts'
import { IdRanges } from '../../../page/selection/id-ranges.ts'
import { type ReadOptions, readSelected } from '../../../page/selection/read-selected.ts'
import { connectThrough, passed, silence } from '../../client/faulty-proxy.ts'
import { importPlants } from '../../helpers/plants/import-plants.ts'
import { type Service, startService } from '../../helpers/service/service.ts'

const COUNT = 3500

let service: Service
t.before(async () => {
  service = await startService(t)
  const plants = Array.from({ length: COUNT }, (_, index) => ({
    id: BigInt(index + 1),
    name: `${index % 7 === 0 ? 'Quercus' : 'Abies'} ${index + 1}`,
    ...(index % 2 === 0 && { tag: 'Tree' }),
  }))
  const ends = [
    { id: INT64_MIN, name: 'first' },
    { id: INT64_MAX, name: 'last' },
  ]
  await importPlants(service.store, [...plants, ...ends], 'stop')
})

async function idsOf(filter: Filter, ranges: IdRanges, options: Partial<ReadOptions> = {}) {
  const plants = await readSelected(createClient(service), filter, ranges, {
    signal: new AbortController().signal,
    onProgress: () => {},
    ...options,
  })
  return plants.map(({ id }) => id)
}

/** The ids from one to another, by steps. */
function sequence(from: number, to: number, step = 1): bigint[] {
  const length = Math.floor((to - from) / step) + 1
  return Array.from({ length }, (_, index) => BigInt(from + index * step))
}

t.test('no ids select no plants', async (t) => {
  t.same(await idsOf({}, IdRanges.NONE), [])
})

t.test('all ids select what the filter does', async (t) => {
  t.same(await idsOf({}, IdRanges.ALL), [INT64_MIN, ...sequence(1, COUNT), INT64_MAX])
  t.same(await idsOf({ tag: 'Tree' }, IdRanges.ALL), sequence(1, COUNT, 2))
  t.same(await idsOf({ q: 'quercus' }, IdRanges.ALL), sequence(1, COUNT, 7))
  t.same(await idsOf({ q: 'nothing' }, IdRanges.ALL), [])
})

t.test('ranges and single ids are read in their order, without others', async (t) => {
  const ranges = IdRanges.NONE.add(INT64_MAX, INT64_MAX)
    .add(5n, 5n)
    .add(3001n, 3250n)
    .add(40n, 45n)
    .add(100n, 2200n)
    .add(99_999n, 99_999n)
  const ids = [5n, ...sequence(40, 45), ...sequence(100, 2200), ...sequence(3001, 3250), INT64_MAX]
  t.same(await idsOf({}, ranges), ids)
  const untagged = ids.filter((id) => id % 2n === 0n || id === INT64_MAX)
  t.same(await idsOf({ untagged: true }, ranges), untagged)
  const scattered = sequence(1, COUNT, 4).reduce((all, id) => all.add(id, id), IdRanges.NONE)
  t.same(await idsOf({ tag: 'Tree' }, scattered), sequence(1, COUNT, 4))
  t.same(await idsOf({}, IdRanges.NONE.add(INT64_MIN, -1n)), [INT64_MIN])
})

t.test('reading ends at the end of a range', async (t) => {
  const { client, proxy } = await connectThrough(t, service, new Array(10).fill(passed))
  const progress: number[] = []
  const onProgress = (plants: number) => progress.push(plants)
  const { signal } = new AbortController()
  await readSelected(client, {}, IdRanges.NONE.add(1n, 1500n), { signal, onProgress })
  t.equal(proxy.requests.length, 2)
  t.same(progress, [1000, 1500])
})

t.test('memory is bounded', async (t) => {
  const ranges = IdRanges.NONE.add(1n, 2n)
  // `Quercus 1`, `Tree` and `Abies 2`, and what a plant needs besides.
  t.same(await idsOf({}, ranges, { memoryMax: 220 }), [1n, 2n])
  await t.rejects(idsOf({}, ranges, { memoryMax: 219 }), {
    message: /^These are too many plants to change at once\. Select fewer/,
  })
})

t.test('canceling ends reading, and its request', async (t) => {
  const controller = new AbortController()
  const { client } = await connectThrough(t, service, [passed, silence])
  const reason = new Error('canceled')
  const read = readSelected(client, {}, IdRanges.ALL, {
    signal: controller.signal,
    onProgress: () => setImmediate(() => controller.abort(reason)),
  })
  await t.rejects(read, reason)
})
