import { join } from 'node:path'
import t, { type Test } from 'tap'
import { limitPace } from '../../../src/stores/sqlite/backup/copy-pace.ts'
import { openDatabase } from '../../../src/stores/sqlite/file/database.ts'

const MEGABYTE = 256 * 4096

function serviceOn(t: Test) {
  const options = { file: join(t.testdir(), 'plants.db'), lockTimeout: 0 }
  const service = openDatabase(options)
  t.teardown(() => service.close())
  return { options, service }
}

/** A pace in virtual time, which passes only while the copy sleeps. */
function paceOf(t: Test, options: { file: string; lockTimeout: number }, walPagesMax?: number) {
  const clock = { time: 100, slept: [] as number[] }
  const pace = limitPace({
    ...options,
    bytesPerSecond: 10 * MEGABYTE,
    ...(walPagesMax !== undefined && { walPagesMax }),
    now: () => clock.time,
    sleep(ms) {
      clock.slept.push(ms)
      clock.time += ms
    },
  })
  t.teardown(() => pace.close())
  return { pace, clock }
}

t.test('each step takes as long as the rate says', async (t) => {
  const { options } = serviceOn(t)
  const { pace, clock } = paceOf(t, options)
  t.equal(pace.pagesPerStep * 4096, MEGABYTE)
  pace.pause()
  t.same(clock.slept, [], 'the first step begins at once')
  for (const takesMs of [0, 30, 100]) {
    clock.time += takesMs
    pace.pause()
  }
  t.same(clock.slept, [100, 70])
})

t.test('time lost to a slow disk is not made up for', async (t) => {
  const { options } = serviceOn(t)
  const { pace, clock } = paceOf(t, options)
  pace.pause()
  clock.time += 5000
  pace.pause()
  pace.pause()
  t.same(clock.slept, [100])
})

t.test('a copy does not pause while the WAL is too long', async (t) => {
  const { options, service } = serviceOn(t)
  const { pace, clock } = paceOf(t, options, 20)
  pace.pause()
  for (let id = 1; id <= 30; id++) {
    service.prepare('INSERT INTO plants (id, name) VALUES (?, ?)').run(id, 'x')
  }
  pace.pause()
  pace.pause()
  t.same(clock.slept, [])
  service.pragma('wal_checkpoint(TRUNCATE)')
  pace.pause()
  t.same(clock.slept, [100])
})

t.test('a pause blocks the thread', async (t) => {
  const { options } = serviceOn(t)
  const pace = limitPace({ ...options, bytesPerSecond: 50 * MEGABYTE })
  const start = performance.now()
  pace.pause()
  pace.pause()
  pace.close()
  t.ok(performance.now() - start >= 19)
})
