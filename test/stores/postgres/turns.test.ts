import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { StoreUnavailable } from '../../../service/plant-store.ts'
import { Turns } from '../../../src/stores/postgres/turns.ts'

/** Changes that end when they are told to, and what has become of them. */
class Changes {
  readonly turns = new Turns()
  readonly begun: string[] = []
  readonly #gates = new Map<string, PromiseWithResolvers<string>>()

  create(name: string, id: bigint): Promise<string> {
    return this.turns.create(id, () => this.#begin(name))
  }

  change(name: string, ...ids: bigint[]): Promise<string> {
    return this.turns.change(ids, () => this.#begin(name))
  }

  #begin(name: string): Promise<string> {
    const gate = Promise.withResolvers<string>()
    this.#gates.set(name, gate)
    this.begun.push(name)
    return gate.promise
  }

  /** Resolves when all has begun that could then. */
  async end(name: string): Promise<void> {
    this.#gates.get(name)?.resolve(name)
    await setImmediate()
  }

  async fail(name: string, error: Error): Promise<void> {
    this.#gates.get(name)?.reject(error)
    await setImmediate()
  }
}

t.test('creates begin at once, also of one plant', (t) => {
  const changes = new Changes()
  changes.create('one', 1n)
  changes.create('two', 2n)
  changes.create('one again', 1n)
  t.same(changes.begun, ['one', 'two', 'one again'])
  t.end()
})

t.test('changes of one plant are made in their order, those of others meanwhile', async (t) => {
  const changes = new Changes()
  const results = [
    changes.change('update', 1n),
    changes.change('remove', 1n),
    changes.create('create', 1n),
    changes.change('update again', 1n),
    changes.change('of another', 2n),
  ]
  await setImmediate()
  t.same(changes.begun, ['update', 'of another'])
  const order = ['update', 'remove', 'create', 'update again']
  for (const [index, name] of order.entries()) {
    t.same(changes.begun, ['update', 'of another', ...order.slice(1, index + 1)])
    await changes.end(name)
  }
  await changes.end('of another')
  t.same(await Promise.all(results), [...order, 'of another'])
})

t.test('a change waits for the creates before it, and for none behind it', async (t) => {
  const changes = new Changes()
  changes.create('create', 1n)
  changes.change('update', 1n)
  changes.create('of another', 2n)
  await setImmediate()
  t.same(changes.begun, ['create', 'of another'])
  await changes.end('create')
  t.same(changes.begun, ['create', 'of another', 'update'])
})

t.test('a change of several plants waits for each of them, and they for it', async (t) => {
  const changes = new Changes()
  changes.change('one', 1n)
  changes.change('two', 2n)
  changes.change('both', 1n, 2n)
  changes.create('one again', 1n)
  changes.change('two again', 2n)
  changes.change('three', 3n)
  await setImmediate()
  t.same(changes.begun, ['one', 'two', 'three'])
  await changes.end('two')
  t.same(changes.begun, ['one', 'two', 'three'])
  await changes.end('one')
  t.same(changes.begun, ['one', 'two', 'three', 'both'])
  await changes.end('both')
  t.same(changes.begun.slice(4), ['one again', 'two again'])
})

t.test('once all has ended a create begins at once again', async (t) => {
  const changes = new Changes()
  changes.change('first', 1n)
  changes.change('second', 1n)
  await setImmediate()
  await changes.end('first')
  await changes.end('second')
  changes.create('create', 1n)
  t.same(changes.begun, ['first', 'second', 'create'])
})

t.test('a change that comes when the first of two has ended waits for the second', async (t) => {
  const changes = new Changes()
  changes.change('first', 1n)
  changes.change('second', 1n)
  await setImmediate()
  await changes.end('first')
  changes.create('third', 1n)
  await setImmediate()
  t.same(changes.begun, ['first', 'second'])
})

t.test('a change that fails by itself does not keep the next one from being made', async (t) => {
  const changes = new Changes()
  const error = new Error('a mistake')
  const failing = [changes.create('create', 1n), changes.change('update', 1n)]
  const rejections = Promise.allSettled(failing)
  const next = changes.change('next', 1n)
  await changes.fail('create', error)
  await changes.fail('update', error)
  await changes.end('next')
  t.equal(await next, 'next')
  for (const rejection of await rejections) t.match(rejection, { reason: error })
})

t.test('what waits fails with a store that is unavailable; what comes later is made', async (t) => {
  const changes = new Changes()
  const error = new StoreUnavailable('failing', '57P01')
  const results = Promise.allSettled([
    changes.change('update', 1n),
    changes.change('remove', 1n),
    changes.create('create', 1n),
  ])
  await setImmediate()
  await changes.fail('update', error)
  for (const result of await results) t.match(result, { status: 'rejected', reason: error })
  t.same(changes.begun, ['update'])
  changes.change('later', 1n)
  await setImmediate()
  t.same(changes.begun, ['update', 'later'])
})

t.test('creates that failed long ago do not fail a change', async (t) => {
  const changes = new Changes()
  const failing = changes.create('create', 1n)
  await Promise.all([
    t.rejects(failing),
    changes.fail('create', new StoreUnavailable('failing', '57P01')),
  ])
  changes.change('update', 1n)
  await setImmediate()
  t.same(changes.begun, ['create', 'update'])
})

t.test('settling is waiting for all of them, also those that fail', async (t) => {
  const changes = new Changes()
  await changes.turns.settle()
  changes.create('create', 1n)
  const failing = t.rejects(changes.change('update', 2n))
  let settled = false
  const settling = changes.turns.settle().then(() => {
    settled = true
  })
  await changes.end('create')
  t.equal(settled, false)
  await changes.fail('update', new Error('a mistake'))
  await Promise.all([settling, failing])
})
