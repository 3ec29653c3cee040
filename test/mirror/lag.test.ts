import { mock } from 'node:test'
import t, { type Test } from 'tap'
import type { Change } from '../../client/client.ts'
import { Lag } from '../../src/mirror/lag.ts'
import type { Source } from '../../src/mirror/source.ts'

const change = (cursor: number): Change => ({
  cursor: `c${cursor}`,
  at: '2026-11-21T15:00:00.000Z',
  type: 'removed',
  id: 1n,
})

/** A mirror of a source with 1,000 changes per second. `pass` lets time pass, and applies changes until its end. */
function follow(t: Test) {
  let now = 0
  let applied = 0
  t.intercept(performance, 'now', { value: () => now })
  const lines: string[] = []
  let reads = 0
  const source = {
    readChanges: async () => {
      reads++
      return { changes: [], cursor: `c${now}` }
    },
  }
  const lag = new Lag(source as unknown as Source, {
    copied: () => {},
    behind: (reason) => lines.push(reason),
    caughtUp: () => lines.push('caught up'),
  })
  t.teardown(() => lag.stop())
  const pass = async (ms: number, changesPerSecond: number) => {
    for (const end = now + ms; now < end; ) {
      now += 100
      const count = Math.min(changesPerSecond / 10, now - applied)
      const changes = Array.from({ length: count }, (_, index) => change(applied + index + 1))
      applied += count
      await lag.note(changes)
    }
  }
  return { lag, lines, pass, reads: () => reads }
}

t.test('a mirror that never reads an empty page can have caught up', async (t) => {
  const { lag, lines, pass, reads } = follow(t)
  await pass(30_000, 1000)
  t.strictSame(lines, ['caught up'])
  t.notOk(lag.isBehind)
  t.ok(reads() < 31, 'it seldom asks where the feed ends')
})

t.test('a mirror that is slower than its source falls behind, and catches up', async (t) => {
  const { lag, lines, pass } = follow(t)
  await pass(2000, 1000)
  await pass(10_000, 600)
  t.strictSame(lines, ['caught up'], 'it is 4 s behind')
  await pass(60_000, 600)
  t.match(lines, ['caught up', /more changes than the mirror can apply/])
  t.equal(lines.length, 2)
  t.ok(lag.isBehind)
  await pass(100_000, 3000)
  t.strictSame(lines.slice(2), ['caught up'])
})

t.test('each reason is reported once until the mirror has caught up', async (t) => {
  const { lag, lines } = follow(t)
  await lag.note([])
  for (const reason of ['once', 'a', 'a', 'b', 'b']) lag.fail(reason)
  lag.step()
  await lag.note([])
  for (const reason of ['once', 'b']) lag.fail(reason)
  t.strictSame(lines, ['caught up', 'a', 'b', 'caught up', 'b'])
})

t.test('a mirror without steps for ten seconds is behind', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const { lag, lines } = follow(t)
  await lag.note([])
  for (let second = 0; second < 60; second += 6) {
    mock.timers.tick(6000)
    lag.step()
  }
  t.strictSame(lines, ['caught up'])
  mock.timers.tick(9999)
  t.notOk(lag.isBehind)
  mock.timers.tick(1)
  t.ok(lag.isBehind)
  t.strictSame(lines, ['caught up', 'nothing was read or applied for 10 s'])
  lag.step()
  await lag.note([])
  lag.fail('lost')
  mock.timers.tick(10_000)
  t.strictSame(lines.slice(2), ['caught up', 'lost'])
  lag.step()
  await lag.note([])
  lag.stop()
  mock.timers.tick(10_000)
  t.equal(lines.length, 5)
})
