import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import t from 'tap'
import { watchCommits } from '../../../src/stores/sqlite/feed/sqlite-commit-watch.ts'
import { type SqliteLink, SqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts'
import { CommitSignal } from '../../../src/stores/sqlite/writer/commit-signal.ts'
import { isSettled } from '../../helpers/settled.ts'

const lockTimeout = 5000

t.test('all that share the memory are woken', async (t) => {
  const one = new CommitSignal()
  const other = new CommitSignal(one.memory)
  t.equal(one.isAwaited, false)
  const waiting = [one.next(), other.next()]
  t.equal(other.isAwaited, true)
  t.notOk(await isSettled(Promise.race(waiting)))
  const { value } = one
  other.add()
  await Promise.all(waiting)
  t.equal(one.value, value + 1)
  t.notOk(await isSettled(one.next()), 'a commit ends only the waits before it')
})

t.test('waits between two commits share a promise', async (t) => {
  const signal = new CommitSignal()
  const first = signal.next()
  t.equal(signal.next(), first)
  signal.add()
  const second = signal.next()
  t.not(second, first)
  await first
  t.equal(signal.next(), second)
})

t.test('demand that ends at the instant of the next wait is renewed for all threads', async (t) => {
  const signal = new CommitSignal()
  const other = new CommitSignal(signal.memory)
  const alive = setInterval(() => {}, 1000)
  t.teardown(() => clearInterval(alive))
  signal.next()
  t.equal(signal.isAwaited, true)
  const now = process.hrtime.bigint()
  const awaited: Promise<void>[] = []
  t.intercept(process.hrtime, 'bigint', {
    // Right after the wait has read the time, the demand ends, and another thread finds none.
    value() {
      if (awaited.push(Promise.resolve()) > 1) return now + 10_000_000_000n
      awaited.push(other.awaited())
      return now
    },
  })
  signal.next()
  await Promise.all(awaited)
})

t.test('anyone who waits wakes those that look for commits', async (t) => {
  const signal = new CommitSignal()
  const awaited = signal.awaited()
  t.notOk(await isSettled(awaited))
  signal.next()
  await awaited
  await signal.awaited()
})

t.test('closing wakes everyone', async () => {
  const signal = new CommitSignal()
  const awaited = signal.awaited()
  const shared = new CommitSignal(signal.memory)
  const closed = new CommitSignal(signal.memory)
  const others = [shared.next(), signal.next()]
  closed.close()
  await Promise.all(others)
  signal.close()
  await Promise.all([awaited, signal.next(), signal.awaited()])
})

t.test('commits of other connections are reported until the connection is closed', async (t) => {
  const file = join(t.testdir(), 'plants.db')
  const own = new Sqlite(file)
  const other = new Sqlite(file)
  t.teardown(() => other.close())
  own.exec('PRAGMA journal_mode = WAL; CREATE TABLE numbers (number)')
  const alive = setInterval(() => {}, 1000)
  t.teardown(() => clearInterval(alive))
  const signal = new CommitSignal()
  const watch = watchCommits(own, signal)
  for (let number = 1; number <= 3; number++) {
    const next = signal.next()
    other.prepare('INSERT INTO numbers VALUES (?)').run(number)
    await next
    t.equal(signal.value, number)
  }
  own.exec('INSERT INTO numbers VALUES (0)')
  const next = signal.next()
  own.close()
  await next
  t.equal(signal.value, 4, 'a file that cannot be read is reported')
  await watch
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
