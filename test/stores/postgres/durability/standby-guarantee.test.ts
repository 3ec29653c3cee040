import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { StoreUnavailable } from '../../../../service/store/plant-store.ts'
import {
  type Observation,
  StandbyGuarantee,
} from '../../../../src/stores/postgres/connection/standby-guarantee.ts'

const without: Observation = {
  synchronous_commit: 'on',
  synchronous_standby_names: '',
  max_wal_senders: '10',
  configured_at: '2026-11-21 15:00:00+00',
  configured_for: 5000,
  required: '1',
}

t.test('a violation ends although the first look at the server failed', async (t) => {
  const ended = Promise.withResolvers<void>()
  let looks = 0
  const guarantee: StandbyGuarantee = new StandbyGuarantee(async () => {
    looks++
    if (looks === 1) throw new Error('the server is unreachable')
    ended.resolve()
    return { ...without, synchronous_standby_names: 'other' }
  })
  t.teardown(() => guarantee.close())
  // The probe does not keep the process running.
  const running = setInterval(() => {}, 1000)
  t.teardown(() => clearInterval(running))
  guarantee.note(without)
  t.throws(() => guarantee.assertHeld(), StoreUnavailable)
  await ended.promise
  await setImmediate()
  t.doesNotThrow(() => guarantee.assertHeld())
})
