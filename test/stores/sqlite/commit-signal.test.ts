import t from 'tap'
import { CommitSignal } from '../../../src/stores/sqlite/feed/commit-signal.ts'
import { openDatabase } from '../../../src/stores/sqlite/file/database.ts'
import { Reader } from '../../../src/stores/sqlite/reads/reader.ts'
import { freezeClock } from '../../helpers/processes/frozen-clock.ts'
import { isSettled } from '../../helpers/processes/settled.ts'

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

t.test('a wait ends after a second without a commit', async (t) => {
  const pass = freezeClock(t)
  const waiting = new CommitSignal().next(same)
  pass(999)
  t.notOk(await isSettled(waiting))
  pass(1)
  await waiting
})

t.test('a file that cannot be read wakes followers, which report it', async (t) => {
  freezeClock(t)
  const signal = new CommitSignal()
  const db = openDatabase({ file: ':memory:', lockTimeout: 0 })
  const reader = new Reader(db)
  const waiting = signal.next(() => reader.readVersion())
  db.close()
  await waiting
})
