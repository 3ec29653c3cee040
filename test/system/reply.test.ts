import t from 'tap'
import { StoreUnavailable } from '../../service/store/plant-store.ts'
import { fromReply, type Reply, toReply } from '../../src/system/reply.ts'

/** Settles a promise as a reply says that has been sent to another thread. */
function receive<Result>(reply: Reply<Result>): Promise<Result> {
  const pending = Promise.withResolvers<Result>()
  fromReply(structuredClone(reply), pending)
  return pending.promise
}

t.test('an error of the system arrives with its code and its system call', async (t) => {
  const properties = { code: 'EADDRINUSE', syscall: 'listen' }
  const error = Object.assign(new Error('occupied'), properties)
  await t.rejects(receive(toReply(error)), { message: 'occupied', ...properties })
})

t.test('a reply that nobody awaits is ignored', async (t) => {
  const unavailable = new StoreUnavailable('busy', 'a detail')
  for (const reply of [toReply(new Error('a defect')), toReply(unavailable)]) {
    t.doesNotThrow(() => fromReply(reply, undefined))
  }
  t.doesNotThrow(() => fromReply({ result: 1 }, undefined))
})
