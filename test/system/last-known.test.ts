import t from 'tap'
import { lastKnown } from '../../src/system/last-known.ts'

t.test('while the figures are late, the last ones are known', async (t) => {
  const replies: PromiseWithResolvers<string>[] = []
  const ask = () => {
    const reply = Promise.withResolvers<string>()
    replies.push(reply)
    return reply.promise
  }
  const read = lastKnown(ask, 'none', 20)
  t.equal(await read(), 'none')
  t.equal(await read(), 'none')
  t.equal(replies.length, 1, 'a blocked thread is asked once')
  replies[0]?.resolve('first')
  t.equal(await read(), 'first')
  t.equal(await read(), 'first')
  t.equal(replies.length, 2)
  replies[1]?.reject(new Error('the thread has ended'))
  t.equal(await read(), 'first')
})
