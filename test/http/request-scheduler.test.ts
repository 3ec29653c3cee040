import t from 'tap'
import { RequestScheduler } from '../../src/http/request-scheduler.ts'

/** A fake clock, and work that advances it. */
function clock() {
  let now = 0
  return { now: () => now, work: (milliseconds: number) => (now += milliseconds) }
}

const never = () => t.fail('it was rejected')

t.test('requests start immediately while a turn has time, otherwise in later turns', async (t) => {
  const { now, work } = clock()
  const scheduler = new RequestScheduler(now)
  const done: string[] = []
  const start = (name: string) =>
    scheduler.schedule(() => {
      done.push(name)
      work(15)
    }, never)
  for (const name of ['a', 'b', 'c', 'd', 'e']) start(name)
  t.same(done, ['a', 'b'])
  const between = new Promise<void>((resolve) => {
    setImmediate(() => {
      done.push('others')
      start('f')
      resolve()
    })
  })
  await between
  while (done.length < 7) await new Promise(setImmediate)
  t.same(done, ['a', 'b', 'others', 'c', 'd', 'e', 'f'])
  start('g')
  t.equal(done.at(-1), 'g', 'a request starts immediately again')
})

t.test('a request that has waited too long is rejected', async (t) => {
  const { now, work } = clock()
  const scheduler = new RequestScheduler(now)
  const done: string[] = []
  scheduler.schedule(() => work(6000), never)
  const rejected = new Promise<void>((resolve) => {
    scheduler.schedule(
      () => done.push('started'),
      () => {
        done.push('rejected')
        resolve()
      },
    )
  })
  work(6000)
  await rejected
  t.same(done, ['rejected'])
})
