import { setImmediate } from 'node:timers/promises'
import { MessageChannel } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { StoreUnavailable } from '../../service/store/plant-store.ts'
import { RemoteCalls, serveCalls } from '../../src/system/remote-calls.ts'

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

/** Connects both sides as two threads do. */
function connectCalls(t: Test, methods: Partial<Served> = {}) {
  const { port1: server, port2: client } = new MessageChannel()
  t.teardown(() => client.close())
  serveCalls<keyof Served>(server, { ...METHODS, ...methods })
  return { remote: new RemoteCalls<Served>(client, 'the thread x'), server }
}

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

t.test('a call with a parameter that cannot be sent throws', async (t) => {
  const { remote } = connectCalls(t)
  t.throws(() => remote.call('wait', (() => {}) as never), { name: 'DataCloneError' })
  t.equal(await remote.call('add', 1, 2), 3)
})

t.test('close rejects the calls without a reply', async (t) => {
  const { remote } = connectCalls(t, { wait: () => new Promise(() => {}) })
  const call = remote.call('wait', 'x')
  remote.close()
  await t.rejects(call, { message: 'the thread x has ended' })
})

t.test('if the other thread ends, its calls reject', async (t) => {
  const { remote, server } = connectCalls(t, { wait: () => new Promise(() => {}) })
  const call = remote.call('wait', 'x')
  server.close()
  await t.rejects(call, { message: 'the thread x has ended' })
  await t.rejects(remote.call('wait', 'x'), { message: 'the thread x has ended' })
})
