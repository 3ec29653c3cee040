import t from 'tap'
import { CommitWatch } from '../../../../src/stores/postgres/feed/postgres-commit-watch.ts'
import { isSettled } from '../../../helpers/processes/settled.ts'

// Waiting does not keep the process running.
const timer = setInterval(() => {}, 1000)
t.teardown(() => clearInterval(timer))

t.test('all callers wait for the same commit, which is looked for once', async (t) => {
  let looks = 0
  const watch = new CommitWatch(async () => ++looks === 3)
  const start = performance.now()
  await Promise.all([watch.next(), watch.next(), watch.next()])
  t.equal(looks, 3)
  t.ok(performance.now() - start >= 500)
})

t.test('a commit of this process ends the wait at once', async (t) => {
  let looks = 0
  const watch = new CommitWatch(async () => ++looks > 0)
  watch.notify()
  const next = watch.next()
  t.notOk(await isSettled(next))
  watch.notify()
  await next
  t.equal(looks, 0)
})

t.test('the wait ends after a second without a commit', async (t) => {
  const watch = new CommitWatch(async () => false)
  const start = performance.now()
  await watch.next()
  t.ok(performance.now() - start >= 950)
})

t.test('a failure to look is not the end of the wait', async (t) => {
  let looks = 0
  const watch = new CommitWatch(async () => {
    if (++looks < 3) throw new Error('on purpose')
    return true
  })
  await watch.next()
  t.equal(looks, 3)
})

t.test('a commit found after the wait has ended belongs to nobody', async (t) => {
  const looking = Promise.withResolvers<void>()
  const found = Promise.withResolvers<boolean>()
  const watch = new CommitWatch(() => {
    looking.resolve()
    return found.promise
  })
  const first = watch.next()
  await looking.promise
  watch.notify()
  await first
  const second = watch.next()
  found.resolve(true)
  t.notOk(await isSettled(second))
  watch.notify()
  await second
})
