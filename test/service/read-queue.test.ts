import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import type { Client } from '../../core/contract/operation-types.ts'
import type { Grant } from '../../core/contract/scopes.ts'
import { ReadQueue, ReadQueues } from '../../service/read-queue.ts'
import { StoreUnavailable } from '../../service/store/plant-store.ts'

/** How many can wait. */
const PLACES = 64

function clientOf(name: string, subject?: string, signal?: AbortSignal): Client {
  const grant: Grant = { name, scopes: ['read'], ...(subject !== undefined && { subject }) }
  return { grant, isGone: () => signal?.aborted === true }
}

/** Reads that end when the test wants, in the order in which they start. */
class Reads {
  readonly queue = new ReadQueue({ running: 1, waiting: PLACES })
  readonly started: string[] = []
  readonly refused: string[] = []
  #end = Promise.withResolvers<void>()

  /** Begins a read. Resolves after it has ended or was refused. */
  async begin(label: string, client: Client): Promise<void> {
    const read = this.queue.take(client, async () => {
      this.started.push(label)
      await this.#end.promise
      if (label === 'a bug') throw new Error(label)
      if (label === 'a failure') throw new StoreUnavailable('failing', label)
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

/** Resolves after all reads that can start have started. */
async function settled(): Promise<void> {
  await setImmediate()
  await setImmediate()
}

t.test('reads run one at a time, and those of a client in their order', async (t) => {
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

t.test('a small read does not wait for a large one', async (t) => {
  const queues = new ReadQueues()
  const held = Promise.withResolvers<void>()
  const large = queues.of(101).take(clientOf('a'), () => held.promise)
  t.equal(await queues.of(100).take(clientOf('a'), async () => 'small'), 'small')
  held.resolve()
  await large
})

t.test(
  'a job that has begun precedes other reads of its client, and keeps its place',
  async (t) => {
    const reads = new Reads()
    const job = reads.queue.jobFor(clientOf('a'))
    const step = async (label: string) => {
      await job(async () => {
        reads.started.push(label)
      })
    }
    await step('job 1')
    const all = Array.from({ length: PLACES + 1 }, (_, index) =>
      reads.begin(`a${index}`, clientOf('a')),
    )
    all.push(step('job 2'), reads.begin('b', clientOf('b')))
    await settled()
    t.equal(reads.refused.length, 2, 'the latest of the others make room')
    await reads.next()
    await settled()
    t.strictSame(reads.started, ['job 1', 'a0', 'job 2', 'b'])
    for (const _ of all) await reads.next()
    await Promise.all(all)
  },
)

t.test('a job ends when its client has disconnected', async (t) => {
  const client = new AbortController()
  const job = new ReadQueues().large.jobFor(clientOf('a', undefined, client.signal))
  await job(async () => {})
  client.abort()
  await t.rejects(
    job(async () => t.fail('it was made')),
    { name: 'StoreUnavailable' },
  )
})

t.test('if the store fails, the waiting reads fail too', async (t) => {
  const reads = new Reads()
  const all = ['a failure', 'a', 'b'].map((label) => reads.begin(label, clientOf(label)))
  await settled()
  await reads.next()
  await Promise.all(all)
  const reason = 'the store is failing: a failure'
  t.strictSame(reads.refused.toSorted(), [`a failure: ${reason}`, `a: ${reason}`, `b: ${reason}`])
  const later = reads.begin('later', clientOf('a'))
  await reads.next()
  await later
  t.strictSame(reads.started, ['a failure', 'later'])
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
  const isFull = 'the store is busy: too many reads are waiting'
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
  await reads.next()
  await reads.next()
  await Promise.all(all)
  const hasGone = 'the store is busy: the client has disconnected'
  t.strictSame(reads.refused, [`waiting: ${hasGone}`, `gone: ${hasGone}`])
  t.strictSame(reads.started, ['first', 'last'], 'a read that runs is never cut')
})

t.test(
  'a read that waits is not made if its client disconnects right after the request',
  async (t) => {
    const reads = new Reads()
    const leaving = new AbortController()
    const all = [
      reads.begin('first', clientOf('a')),
      reads.begin('leaving', clientOf('a', undefined, leaving.signal)),
    ]
    const ended = reads.next()
    await setImmediate()
    leaving.abort()
    await ended
    await Promise.all(all)
    t.strictSame(reads.started, ['first'])
  },
)

t.test('the reads of clients that have disconnected make room for others', async (t) => {
  const reads = new Reads()
  const gone = new AbortController()
  const all = Array.from({ length: PLACES + 1 }, (_, index) =>
    reads.begin(`a${index}`, clientOf('a', undefined, index > 2 ? gone.signal : undefined)),
  )
  await settled()
  gone.abort()
  all.push(reads.begin('last', clientOf('a')))
  await settled()
  t.equal(reads.refused.length, PLACES - 2)
  for (const _ of all) await reads.next()
  await Promise.all(all)
  t.strictSame(reads.started, ['a0', 'a1', 'a2', 'last'])
})
