import t from 'tap'
import { backoffMs, type RetryPolicy, retry } from '../../../core/time/retries.ts'

/** A policy whose delays are recorded instead of waited for. */
function recorded(policy: RetryPolicy) {
  const delays: number[] = []
  const wait = async (milliseconds: number) => {
    delays.push(milliseconds)
  }
  return { delays, policy: { ...policy, wait } }
}

/** An attempt that fails a number of times. */
function failing(times: number) {
  return async (failures: number) => {
    if (failures < times) throw new Error(`failure ${failures}`)
    return failures
  }
}

const DELAYS: [what: string, policy: RetryPolicy, failures: number, delays: number[]][] = [
  ['doubles up to its maximum', { delayMs: 10, delayMsMax: 50 }, 5, [10, 20, 40, 50, 50]],
  ['is fixed without a maximum', { delayMs: 10 }, 2, [10, 10]],
  ['can be none', { delayMs: 0 }, 2, []],
  ['is at most a day', { delayMs: 0, delayAfter: () => 1e12 }, 1, [86_400_000]],
]
for (const [what, given, failures, expected] of DELAYS) {
  t.test(`the delay ${what}`, async (t) => {
    const { delays, policy } = recorded(given)
    t.equal(await retry(failing(failures), policy), failures)
    t.same(delays, expected)
  })
}

t.test('after the last attempt, its error is thrown', async (t) => {
  const { delays, policy } = recorded({ attempts: 3, delayMs: 10 })
  await t.rejects(retry(failing(9), policy), { message: 'failure 2' })
  t.equal(delays.length, 2)
})

t.test('a failure can end the retries or lengthen the delay', async (t) => {
  const delayAfter = (error: unknown, failures: number) =>
    String(error).endsWith('1') ? undefined : 100 * failures
  const { delays, policy } = recorded({ delayMs: 10, delayAfter })
  await t.rejects(retry(failing(9), policy), { message: 'failure 1' })
  t.same(delays, [110])
})

t.test('a signal ends the wait, and its reason is thrown', async (t) => {
  const controller = new AbortController()
  const attempt = async () => {
    setImmediate(() => controller.abort(new Error('enough')))
    throw new Error('failure')
  }
  const policy = { delayMs: 1e9, signal: controller.signal }
  await t.rejects(retry(attempt, policy), { message: 'enough' })
})

t.test('jitter shortens the delay by up to half', async (t) => {
  const policy = { delayMs: 100, jitter: true }
  t.same(
    [0, 0.5, 1].map((random) => backoffMs(1, policy, random)),
    [50, 75, 100],
  )
})

t.test('the delay stays finite after any number of failures', async (t) => {
  t.equal(backoffMs(1e9, { delayMs: 1, delayMsMax: 60_000 }), 60_000)
})
