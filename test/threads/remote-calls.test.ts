import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { MessageChannel } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { StoreUnavailable } from '../../service/plant-store.ts'
import { RemoteCalls, serveCalls } from '../../src/threads/remote-calls.ts'

interface Served {
  add(a: number, b: number): Promise<number>
  wait(name: string): Promise<string>
  fail(): Promise<void>
}

const METHODS: Served = {
  add: async (a, b) => a + b,
  wait: async (name) => name,
  fail: async () => {
    throw new Error('a defect')
  },
}

/** Connects both sides as two threads do, and counts the messages in each direction. */
function connectCalls(t: Test, methods: Partial<Served> = {}) {
  const { port1: server, port2: client } = new MessageChannel()
  t.teardown(() => client.close())
  const messages = { requests: 0, replies: 0 }
  server.on('message', () => messages.requests++)
  client.on('message', () => messages.replies++)
  serveCalls<keyof Served>(server, { ...METHODS, ...methods })
  return { remote: new RemoteCalls<Served>(client, 'the thread x'), messages, server }
}

t.test('calls of one turn share a message, and so do their replies', async (t) => {
  const { remote, messages } = connectCalls(t)
  const turn = (from: number) =>
    Promise.all([0, 1, 2].map((number) => remote.call('add', from, number)))
  t.same(await turn(0), [0, 1, 2])
  t.same(messages, { requests: 1, replies: 1 })
  t.same(await turn(10), [10, 11, 12])
  t.same(messages, { requests: 2, replies: 2 })
})

t.test('each call gets its own reply, whatever their order', async (t) => {
  const gates = new Map<string, PromiseWithResolvers<string>>()
  const { remote } = connectCalls(t, {
    wait: (name) => {
      const gate = Promise.withResolvers<string>()
      gates.set(name, gate)
      return gate.promise
    },
  })
  const [first, second] = [remote.call('wait', 'first'), remote.call('wait', 'second')]
  while (gates.size < 2) await setImmediate()
  gates.get('second')?.resolve('2')
  t.equal(await second, '2')
  gates.get('first')?.resolve('1')
  t.equal(await first, '1')
})

t.test('a call rejects with the error of the method', async (t) => {
  const { remote } = connectCalls(t, {
    wait: async (detail) => {
      throw new StoreUnavailable('busy', detail)
    },
  })
  const calls = [remote.call('fail'), remote.call('wait', 'a detail'), remote.call('add', 1, 2)]
  const [failed, refused, succeeded] = await Promise.allSettled<unknown>(calls)
  t.match(failed, { reason: { message: 'a defect' } })
  t.match(refused, { reason: { reason: 'busy', detail: 'a detail' } })
  t.ok(refused?.status === 'rejected' && refused.reason instanceof StoreUnavailable)
  t.match(succeeded, { value: 3 })
})

t.test(
  'a call with a parameter that cannot be sent rejects, with the others of its turn',
  async (t) => {
    const { remote } = connectCalls(t)
    const calls = [remote.call('wait', (() => {}) as never), remote.call('add', 1, 2)]
    for (const result of await Promise.allSettled<unknown>(calls)) {
      t.match(result, { status: 'rejected', reason: { name: 'DataCloneError' } })
    }
    t.equal(await remote.call('add', 1, 2), 3)
  },
)

t.test('close waits for the calls in flight', async (t) => {
  const gate = Promise.withResolvers<string>()
  const { remote, server } = connectCalls(t, { wait: () => gate.promise })
  const call = remote.call('wait', 'x')
  const closing = [remote.close(), remote.close()]
  const ended = once(server, 'close')
  for (let turn = 0; turn < 20; turn++) await setImmediate()
  gate.resolve('done')
  t.equal(await call, 'done')
  await Promise.all(closing)
  await ended
  await remote.close()
  await t.rejects(remote.call('wait', 'x'), { message: 'the thread x has ended' })
})

t.test('if the other thread ends, its calls reject', async (t) => {
  const { remote, server } = connectCalls(t, { wait: () => new Promise(() => {}) })
  const call = remote.call('wait', 'x')
  const closing = remote.close()
  server.close()
  await t.rejects(call, { message: 'the thread x has ended' })
  await closing
  await t.rejects(remote.call('wait', 'x'), { message: 'the thread x has ended' })
})
