import t from 'tap'
import { isHopeless, readRetryAfter, retryDelay } from '../../src/webhooks/retry-delays.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

t.test('delays double up to an hour, and vary by a quarter', async (t) => {
  for (const [attempts, delay] of [
    [1, 1000],
    [2, 2000],
    [3, 4000],
    [12, 2_048_000],
  ] as const) {
    t.equal(retryDelay(attempts, 0, 0), delay * 0.75)
    t.equal(retryDelay(attempts, 0, 0.5), delay)
    t.equal(retryDelay(attempts, 0, 1), delay * 1.25)
  }
  for (const attempts of [13, 100, 10_000]) {
    t.equal(retryDelay(attempts, 0, 0), HOUR * 0.75)
    t.equal(retryDelay(attempts, 0, 1), HOUR)
  }
})

t.test('a receiver can lengthen a delay up to an hour', async (t) => {
  t.equal(retryDelay(1, 60_000, 0.5), 60_000)
  t.equal(retryDelay(8, 60_000, 0.5), 128_000)
  t.equal(retryDelay(1, 10 * HOUR, 0.5), HOUR)
})

t.test('Retry-After is a number of seconds or a date', async (t) => {
  const now = Date.parse('2026-11-21T15:00:00Z')
  for (const [value, delay] of [
    [undefined, 0],
    ['0', 0],
    ['120', 120_000],
    ['Sat, 21 Nov 2026 15:00:30 GMT', 30_000],
    ['Sat, 21 Nov 2026 14:00:00 GMT', 0],
    ['soon', 0],
    ['-1', 0],
    ['1'.repeat(400), 0],
  ] as const) {
    t.equal(readRetryAfter(value, now), delay, String(value))
  }
})

t.test('deliveries are given up after three days and enough attempts', async (t) => {
  const now = new Date('2026-11-21T15:00:00Z')
  const failing = (days: number, attempts: number) => ({
    attempts,
    failingSince: new Date(now.getTime() - days * DAY),
  })
  t.equal(isHopeless(failing(3, 20), now), true)
  t.equal(isHopeless(failing(2.99, 1000), now), false)
  t.equal(isHopeless(failing(100, 19), now), false)
  t.equal(isHopeless({ attempts: 1000 }, now), false)
})
