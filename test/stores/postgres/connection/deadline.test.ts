import t from 'tap'
import { StoreUnavailable } from '../../../../service/store/plant-store.ts'
import { Deadline } from '../../../../src/stores/postgres/connection/deadline.ts'

const never = new Promise(() => {})

t.test('a call that is abandoned ends at once, and so does what it waits for later', async (t) => {
  const deadline = new Deadline(60_000)
  const waiting = deadline.limit(never)
  deadline.pass('the store is closing')
  deadline.cancel()
  const expected = new StoreUnavailable('failing', 'the store is closing')
  await t.rejects(waiting, expected)
  await t.rejects(deadline.limit(never), expected)
})

t.test('a call ends at its deadline', async (t) => {
  const expected = new StoreUnavailable('failing', 'the server did not respond within 1 ms')
  await t.rejects(new Deadline(1).limit(never), expected)
})
