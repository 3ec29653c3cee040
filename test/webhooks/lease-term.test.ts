import { once } from 'node:events'
import t from 'tap'
import { WEBHOOK_LEASE_MS } from '../../service/webhook-store.ts'
import { LeaseTerm } from '../../src/webhooks/lease-term.ts'

t.test('a term begins with a renewal and ends with the close', async (t) => {
  const term = new LeaseTerm()
  t.equal(term.signal.aborted, true)
  t.equal(term.age, Number.POSITIVE_INFINITY)
  term.renew(LeaseTerm.now())
  const { signal } = term
  t.equal(signal.aborted, false)
  t.ok(term.age < 1000)
  term.renew(LeaseTerm.now())
  t.equal(term.signal, signal, 'the same term')
  term.close()
  t.equal(signal.aborted, true)
})

t.test('a term ends before the lease', async (t) => {
  const term = new LeaseTerm()
  const { monotonic, wall } = LeaseTerm.now()
  const ago = WEBHOOK_LEASE_MS - 2500
  term.renew({ monotonic: monotonic - ago, wall: wall - ago })
  const { signal } = term
  t.equal(signal.aborted, false)
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
