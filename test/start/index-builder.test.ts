import { EventEmitter, once } from 'node:events'
import { join } from 'node:path'
import t from 'tap'
import type { Member } from '../../core/members/members.ts'
import { systemClock } from '../../core/time/clock.ts'
import { declareIndexes } from '../../service/sorting.ts'
import { StoreUnavailable } from '../../service/store/plant-store.ts'
import { buildIndexes } from '../../src/start/index-builder.ts'
import { SqliteStore } from '../../src/stores/sqlite/sqlite-store.ts'
import { each } from '../helpers/plants/lists.ts'

const NAME: Member = { name: 'name', type: 'string', isRequired: true }

t.test(
  'an index is built although the store was unavailable, and until the service stops',
  async (t) => {
    const store = new SqliteStore({ file: join(t.testdir(), 'plants.db'), lockTimeout: 60_000 })
    const plants = Array.from({ length: 3000 }, (_, at) => ({ id: BigInt(at), name: 'Acer' }))
    for (const from of [0, 1000, 2000])
      await store.apply(each('put', plants.slice(from, from + 1000)), 'each')
    await declareIndexes(store, [NAME])
    const stopping = new AbortController()
    const events = new EventEmitter()
    const problems: string[] = []
    const failures = [new StoreUnavailable('failing', 'unreachable')]
    const unreliable: Pick<SqliteStore, 'indexPlants' | 'listRecords'> = {
      indexPlants: () => store.indexPlants(),
      async listRecords(kinds) {
        const failure = failures.pop()
        if (failure !== undefined) throw failure
        return store.listRecords(kinds)
      },
    }
    const log = { info: (message: unknown) => events.emit('info', message) }
    const logged = once(events, 'info')
    const building = buildIndexes(
      unreliable,
      log,
      (problem) => problems.push(problem),
      stopping.signal,
    )
    t.strictSame(await logged, ['plants can be sorted by name'])
    t.strictSame(problems, ['cannot compute the keys of indexes: unreachable'])
    stopping.abort()
    await store.close()
    await building
  },
)

t.test('the progress is reported every ten seconds', async (t) => {
  const store = new SqliteStore({ file: join(t.testdir(), 'plants.db'), lockTimeout: 60_000 })
  const plants = Array.from({ length: 3000 }, (_, at) => ({ id: BigInt(at), name: 'Acer' }))
  for (const from of [0, 1000, 2000])
    await store.apply(each('put', plants.slice(from, from + 1000)), 'each')
  await declareIndexes(store, [NAME])
  let now = 0
  t.intercept(systemClock, 'monotonic', { value: () => (now += 10_000) })
  const stopping = new AbortController()
  const messages: unknown[] = []
  const info = (message: unknown) => {
    messages.push(message)
    if (message === 'plants can be sorted by name') stopping.abort()
  }
  await buildIndexes(store, { info }, t.fail, stopping.signal)
  await store.close()
  t.strictSame(messages, [
    ...[999, 1999, 2999].map((id) => `plants up to the id ${id} are sorted by name`),
    'plants can be sorted by name',
  ])
})

t.test('a store that closes while an index is built stops the builder', async (t) => {
  for (let parts = 0; parts < 3; parts++) {
    const store = new SqliteStore({ file: join(t.testdir(), `${parts}.db`), lockTimeout: 60_000 })
    await store.apply(each('put', [{ id: 1n, name: 'Acer' }]), 'each')
    await declareIndexes(store, [NAME])
    const stopping = new AbortController()
    let left = parts
    const closed = Promise.withResolvers<void>()
    const closing: Pick<SqliteStore, 'indexPlants' | 'listRecords'> = {
      async indexPlants() {
        const part = store.indexPlants()
        if (left-- === 0) {
          stopping.abort()
          store.close().then(closed.resolve, closed.reject)
        }
        return part
      },
      listRecords: (kinds) => store.listRecords(kinds),
    }
    await buildIndexes(closing, { info: () => {} }, t.fail, stopping.signal)
    await closed.promise
  }
})
