import t from 'tap'
import { StoreUnavailable } from '../../../service/plant-store.ts'
import { Deadline } from '../../../src/stores/postgres/connection/deadline.ts'

const never = new Promise(() => {})

t.test(
  'a call that the store abandons ends at once, and so does one that begins later',
  async (t) => {
    const closing = new AbortController()
    const deadline = new Deadline(60_000, closing.signal)
    const waiting = deadline.limit(never)
    closing.abort()
    const expected = new StoreUnavailable('failing', 'the store is closing')
    await t.rejects(waiting, expected)
    await t.rejects(deadline.limit(never), expected)
  },
)

t.test('work that ends before its deadline is not affected by a later close', async (t) => {
  const closing = new AbortController()
  t.equal(await new Deadline(60_000, closing.signal).limit(Promise.resolve('done')), 'done')
  closing.abort()
})

t.test('a call ends at its deadline', async (t) => {
  const expected = new StoreUnavailable('failing', 'the server did not respond within 1 ms')
  await t.rejects(new Deadline(1, new AbortController().signal).limit(never), expected)
})
