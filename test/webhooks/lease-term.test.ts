import { once } from 'node:events'
import t, { type Test } from 'tap'
import { WEBHOOK_LEASE_MS } from '../../service/webhook-store.ts'
import { LeaseTerm } from '../../src/webhooks/lease-term.ts'

/** Stops both clocks until the test ends. Returns a function that advances them. */
function stopClocks(t: Test): (milliseconds: number) => void {
  let { monotonic, wall } = LeaseTerm.now()
  t.capture(performance, 'now', () => monotonic)
  t.capture(Date, 'now', () => wall)
  return (milliseconds) => {
    monotonic += milliseconds
    wall += milliseconds
  }
}

t.test('a term begins with a renewal and ends with the close', async (t) => {
  const advance = stopClocks(t)
  const term = new LeaseTerm()
  t.equal(term.signal.aborted, true)
  t.equal(term.age, Number.POSITIVE_INFINITY)
  term.renew(LeaseTerm.now())
  const { signal } = term
  t.equal(signal.aborted, false)
  advance(1000)
  t.equal(Math.round(term.age), 1000)
  term.renew(LeaseTerm.now())
  t.equal(term.signal, signal, 'the same term')
  term.close()
  t.equal(signal.aborted, true)
})

t.test('a term ends two seconds before the lease', async (t) => {
  const advance = stopClocks(t)
  const term = new LeaseTerm()
  term.renew(LeaseTerm.now())
  advance(WEBHOOK_LEASE_MS - 2001)
  const { signal } = term
  t.equal(signal.aborted, false)
  advance(1)
  // The timer does not keep the process running.
  const timer = setInterval(() => {}, 1000)
  await once(signal, 'abort')
  clearInterval(timer)
  term.renew(LeaseTerm.now())
  t.equal(term.signal.aborted, false, 'a new term')
  term.close()
})

for (const [what, shift] of [
  ['slept', -60_000],
  ['was set back', 60_000],
] as const) {
  t.test(`a term is over if the machine ${what}`, async (t) => {
    const term = new LeaseTerm()
    const { monotonic, wall } = LeaseTerm.now()
    term.renew({ monotonic, wall: wall + shift })
    t.equal(term.signal.aborted, true)
  })
}
