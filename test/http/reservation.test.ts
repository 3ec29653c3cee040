import t from 'tap'
import { ByteBudget, SMALL_MESSAGE_BYTES } from '../../src/http/byte-budget.ts'
import { Reservation } from '../../src/http/reservation.ts'

const KIB = 2 ** 10

/** Whether exactly this many bytes of a budget are free. */
function hasFree(budget: ByteBudget, bytes: number): boolean {
  if (!budget.take(bytes)) return false
  const hasMore = budget.take(1)
  budget.release(bytes + Number(hasMore))
  return !hasMore
}

t.test('a reservation grows and shrinks', async (t) => {
  const budget = new ByteBudget(100 * KIB)
  // A budget of which nothing is taken admits any number of bytes.
  budget.take(10 * KIB)
  const reservation = new Reservation(budget)
  for (const [chunk, free] of [
    [40 * KIB, 50 * KIB],
    [60 * KIB, 30 * KIB],
    [20 * KIB, 70 * KIB],
    [SMALL_MESSAGE_BYTES, 90 * KIB],
  ] as const) {
    t.equal(reservation.resize(chunk), true)
    t.ok(hasFree(budget, free), `${chunk}`)
  }
})

t.test('a reservation that cannot grow is given up', async (t) => {
  const budget = new ByteBudget(100 * KIB)
  const [one, other] = [new Reservation(budget), new Reservation(budget)]
  t.equal(one.resize(50 * KIB), true)
  t.equal(other.resize(40 * KIB), true)
  t.equal(other.resize(60 * KIB), false)
  t.ok(hasFree(budget, 50 * KIB))
})

t.test('waiting ends when the bytes fit, or when the signal aborts', async (t) => {
  const budget = new ByteBudget(100 * KIB)
  const [one, other] = [new Reservation(budget), new Reservation(budget)]
  one.resize(90 * KIB)
  const stop = new AbortController()
  const waiting = other.wait(50 * KIB, stop.signal)
  stop.abort()
  t.equal(await waiting, false)
  const { signal } = new AbortController()
  const again = other.wait(50 * KIB, signal)
  one.resize(0)
  t.equal(await again, true)
  t.ok(hasFree(budget, 50 * KIB))
})
