import { once } from 'node:events'
import { connect, Server } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { acquireStartLock } from '../../src/threads/start-lock.ts'
import { isSettled } from '../helpers/processes/settled.ts'

/** No port, so no service that runs at the same time uses its lock. */
const PORT = 65_536
const ADDRESS = `\0plant-store is starting on port ${PORT}`

const skip = process.platform === 'linux' ? false : 'there is no lock on this system'

t.test('one service at a time holds the lock of a port', { skip }, async (t) => {
  let holders = 0
  const release = await acquireStartLock(PORT)
  const others = Array.from({ length: 3 }, async () => {
    const releaseOther = await acquireStartLock(PORT)
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
  const release = await acquireStartLock(PORT)
  const releaseNothing = await acquireStartLock(PORT, 50)
  const third = acquireStartLock(PORT)
  releaseNothing()
  t.notOk(await isSettled(third), 'the lock is still held')
  release()
  ;(await third)()
})

t.test('a process that disconnects while it waits leaves the lock alone', { skip }, async (t) => {
  const release = await acquireStartLock(PORT)
  const waiting = connect(ADDRESS).on('error', () => {})
  await once(waiting, 'connect')
  const other = acquireStartLock(PORT)
  waiting.destroy()
  t.notOk(await isSettled(other))
  release()
  ;(await other)()
})

t.test('services that start on different ports do not wait for each other', async (t) => {
  const releases = await Promise.all([acquireStartLock(PORT), acquireStartLock(PORT + 1)])
  t.equal(releases.length, 2)
  for (const release of releases) release()
})

t.test('a service that may not hold the lock starts without it', async (t) => {
  const { listen } = Server.prototype
  t.teardown(() => Object.assign(Server.prototype, { listen }))
  Object.assign(Server.prototype, {
    listen(this: Server) {
      queueMicrotask(() => this.emit('error', Object.assign(new Error(), { code: 'EACCES' })))
    },
  })
  const release = await acquireStartLock(PORT)
  release()
})

t.test('systems other than Linux have no lock', async (t) => {
  const { platform } = process
  const set = (value: string) => Object.defineProperty(process, 'platform', { value })
  set('darwin')
  t.teardown(() => set(platform))
  const releases = await Promise.all([acquireStartLock(PORT), acquireStartLock(PORT)])
  for (const release of releases) release()
})
