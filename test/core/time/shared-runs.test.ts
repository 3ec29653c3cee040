import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { shareRuns } from '../../../core/time/shared-result.ts'

/** Work whose runs end when they are told to. */
function controlled() {
  const runs: PromiseWithResolvers<number>[] = []
  const call = shareRuns(() => {
    const run = Promise.withResolvers<number>()
    runs.push(run)
    return run.promise
  })
  return { runs, call }
}

t.test('calls share the next run, and never one that has begun', async (t) => {
  const { runs, call } = controlled()
  const first = [call(), call()]
  await setImmediate()
  t.equal(runs.length, 1)
  const second = [call(), call()]
  await setImmediate()
  t.equal(runs.length, 1, 'one run at a time')
  runs[0]?.resolve(1)
  t.same(await Promise.all(first), [1, 1])
  await setImmediate()
  t.equal(runs.length, 2)
  runs[1]?.resolve(2)
  t.same(await Promise.all(second), [2, 2])
})

t.test('a failed run fails its calls, and is followed by the next', async (t) => {
  const { runs, call } = controlled()
  const first = call()
  await setImmediate()
  const second = call()
  runs[0]?.reject(new Error('on purpose'))
  await t.rejects(first, { message: 'on purpose' })
  await setImmediate()
  runs[1]?.resolve(2)
  t.equal(await second, 2)
})
