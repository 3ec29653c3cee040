import { join } from 'node:path'
import t from 'tap'
import { type SqliteLink, SqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts'
import { CommitSignal } from '../../../src/stores/sqlite/writer/commit-signal.ts'
import { isSettled } from '../../helpers/settled.ts'

const lockTimeout = 5000
const same = () => 0

t.test('all that share the memory are woken', async (t) => {
  const one = new CommitSignal()
  const other = new CommitSignal(one.memory)
  const waiting = [one.next(same), other.next(same)]
  t.notOk(await isSettled(Promise.race(waiting)))
  const { value } = one
  other.add()
  await Promise.all(waiting)
  t.equal(one.value, value + 1)
  t.notOk(await isSettled(one.next(same)), 'a commit ends only the waits before it')
})

t.test('waits between two commits share a promise', async (t) => {
  const signal = new CommitSignal()
  const first = signal.next(same)
  t.equal(signal.next(same), first)
  signal.add()
  const second = signal.next(same)
  t.not(second, first)
  await first
  t.equal(signal.next(same), second)
})

t.test('closing wakes the waits of this thread, and no further one waits', async (t) => {
  const alive = setInterval(() => {}, 1000)
  t.teardown(() => clearInterval(alive))
  const signal = new CommitSignal()
  const waiting = signal.next(same)
  const other = new CommitSignal(signal.memory).next(same)
  signal.close()
  await Promise.all([waiting, signal.next(same)])
  t.notOk(await isSettled(other))
})

t.test('a file that cannot be read wakes followers, which report it', async (t) => {
  const alive = setInterval(() => {}, 1000)
  t.teardown(() => clearInterval(alive))
  let version: number | undefined = 0
  const start = performance.now()
  const waiting = new CommitSignal().next(() => version)
  version = undefined
  await waiting
  t.ok(performance.now() - start < 900)
})

t.test('every thread of a store is woken by the commits of the others', async (t) => {
  const options = { file: join(t.testdir(), 'plants.db'), lockTimeout }
  const owner = new SqliteStore(options)
  const links = owner.share(2) ?? []
  const others = links.map(({ data }) => new SqliteStore(options, data as SqliteLink))
  const stores = [owner, ...others]
  t.teardown(async () => {
    for (const store of stores.toReversed()) await store.close()
  })
  for (const [index, store] of stores.entries()) {
    const waiting = stores.map((store) => store.nextCommit())
    await store.create({ id: BigInt(index), name: 'x' })
    await Promise.all(waiting)
    for (const each of stores) {
      const page = await each.readChanges({ limit: 10 })
      t.equal(typeof page === 'string' ? page : page.changes.length, index + 1)
    }
  }
})
