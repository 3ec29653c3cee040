import { once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { acquireStartLock } from '../../src/http-threads/start-lock.ts'
import { isSettled } from '../helpers/settled.ts'

const ADDRESS = '\0plant-store is starting'

const skip = process.platform === 'linux' ? false : 'there is no lock on this system'

t.test('one service at a time holds the lock', { skip }, async (t) => {
  let holders = 0
  const release = await acquireStartLock()
  const others = Array.from({ length: 3 }, async () => {
    const releaseOther = await acquireStartLock()
    holders++
    for (let turn = 0; turn < 20; turn++) await setImmediate()
    t.equal(holders, 1)
    holders--
    releaseOther()
  })
  t.notOk(await isSettled(Promise.race(others)))
  release()
  await Promise.all(others)
})

t.test('a lock that is never released does not prevent a start', { skip }, async (t) => {
  const release = await acquireStartLock()
  const releaseNothing = await acquireStartLock(50)
  const third = acquireStartLock()
  releaseNothing()
  t.notOk(await isSettled(third), 'the lock is still held')
  release()
  ;(await third)()
})

t.test('a process that disconnects while it waits leaves the lock alone', { skip }, async (t) => {
  const release = await acquireStartLock()
  const waiting = connect(ADDRESS).on('error', () => {})
  await once(waiting, 'connect')
  const other = acquireStartLock()
  waiting.destroy()
  t.notOk(await isSettled(other))
  release()
  ;(await other)()
})

t.test('systems other than Linux have no lock', async (t) => {
  const { platform } = process
  const set = (value: string) => Object.defineProperty(process, 'platform', { value })
  set('darwin')
  t.teardown(() => set(platform))
  const releases = await Promise.all([acquireStartLock(), acquireStartLock()])
  for (const release of releases) release()
})
