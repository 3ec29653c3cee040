import t from 'tap'
import type { Client } from '../../contract/operation-types.ts'
import type { Grant } from '../../contract/scopes.ts'
import { LongReads } from '../../service/long-reads.ts'

/** How many can wait. */
const PLACES = 64

function clientOf(name: string, subject?: string, signal = new AbortController().signal): Client {
  const grant: Grant = { name, scopes: ['read'], ...(subject !== undefined && { subject }) }
  return { grant, signal }
}

/** Long reads that end when the test wants, in the order in which they start. */
class Reads {
  readonly #reads = new LongReads()
  readonly started: string[] = []
  readonly refused: string[] = []
  #end = Promise.withResolvers<void>()

  /** Begins a read. Resolves after it has ended or was refused. */
  async begin(label: string, client: Client): Promise<void> {
    const read = this.#reads.perform(client, async (acquireSlot) => {
      await acquireSlot()
      this.started.push(label)
      await this.#end.promise
      if (label === 'a bug') throw new Error(label)
    })
    await read.catch((error: Error) => this.refused.push(`${label}: ${error.message}`))
  }

  /** Ends the read that runs, and resolves when the next one runs. */
  async next(): Promise<void> {
    const end = this.#end
    this.#end = Promise.withResolvers()
    end.resolve()
    await settled()
  }
}

/** Resolves after all promises that can settle have settled. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

t.test('long reads run one at a time, and those of a client in their order', async (t) => {
  const reads = new Reads()
  const all = ['1', 'a bug', '3'].map((label) => reads.begin(label, clientOf('a')))
  await settled()
  t.strictSame(reads.started, ['1'])
  await reads.next()
  t.strictSame(reads.started, ['1', 'a bug'])
  await reads.next()
  t.strictSame(reads.started, ['1', 'a bug', '3'], 'a read that throws frees its place')
  await reads.next()
  await Promise.all(all)
  t.strictSame(reads.refused, ['a bug: a bug'])
})

t.test('a short read does not wait', async (t) => {
  const reads = new LongReads()
  const held = Promise.withResolvers<void>()
  const long = reads.perform(clientOf('a'), async (acquireSlot) => {
    await acquireSlot()
    await held.promise
  })
  t.equal(await reads.perform(clientOf('a'), async () => 'short'), 'short')
  held.resolve()
  await long
})

t.test('clients take turns', async (t) => {
  const reads = new Reads()
  const all = [
    ...['a1', 'a2', 'a3', 'a4'].map((label) => reads.begin(label, clientOf('a'))),
    ...['b1', 'b2'].map((label) => reads.begin(label, clientOf('b'))),
    // Tokens of one person are one client.
    reads.begin('c1', clientOf('c', 'a person')),
    reads.begin('d1', clientOf('d', 'a person')),
  ]
  await settled()
  for (const _ of all) await reads.next()
  await Promise.all(all)
  t.strictSame(reads.started, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'd1', 'a4'])
})

t.test('a client can take all places, until others need one', async (t) => {
  const reads = new Reads()
  const all = Array.from({ length: PLACES + 2 }, (_, index) =>
    reads.begin(`a${index}`, clientOf('a')),
  )
  await settled()
  const isFull = 'the store is busy: too many long reads are waiting'
  t.strictSame(reads.refused, [`a${PLACES + 1}: ${isFull}`], 'one runs, and the others wait')
  all.push(reads.begin('b', clientOf('b')))
  await settled()
  t.strictSame(reads.refused.slice(1), [`a${PLACES}: ${isFull}`], 'the latest makes room')
  await reads.next()
  await reads.next()
  t.strictSame(reads.started, ['a0', 'a1', 'b'])
  for (const _ of all) await reads.next()
  await Promise.all(all)
})

t.test('a read is not made if its client has disconnected, or does while it waits', async (t) => {
  const reads = new Reads()
  const first = new AbortController()
  const waiting = new AbortController()
  const all = [
    reads.begin('first', clientOf('a', undefined, first.signal)),
    reads.begin('waiting', clientOf('a', undefined, waiting.signal)),
    reads.begin('gone', clientOf('a', undefined, AbortSignal.abort())),
    reads.begin('last', clientOf('a')),
  ]
  await settled()
  waiting.abort()
  first.abort()
  await settled()
  const hasGone = 'the store is busy: the client has disconnected'
  t.strictSame(reads.refused, [`gone: ${hasGone}`, `waiting: ${hasGone}`])
  await reads.next()
  await reads.next()
  await Promise.all(all)
  t.strictSame(reads.started, ['first', 'last'], 'a read that runs is never cut')
})
