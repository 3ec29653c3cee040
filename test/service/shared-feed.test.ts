/** Waiting for changes: what readers share, and that they miss nothing. */
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { SharedFeed } from '../../service/shared-feed.ts'
import type {
  Change,
  ChangeFeed,
  ChangePage,
  ChangesRequest,
  NoChanges,
} from '../../service/store/change-feed.ts'

/** Longer than any test. */
const LONG_MS = 60_000

const change: Change = {
  cursor: '',
  at: new Date(0).toISOString(),
  type: 'created',
  id: 1n,
  plant: { name: 'Abies' },
}

/** A feed whose position is the number of its changes. */
class Feed implements ChangeFeed {
  readonly reads: string[] = []
  readonly changes: Change[] = []
  waits = 0
  /** Replaces the result of reads. */
  result: Promise<NoChanges> | undefined
  #commit = Promise.withResolvers<void>()

  async readChanges({ after = '0', limit }: ChangesRequest): Promise<ChangePage | NoChanges> {
    this.reads.push(`${limit} ${after}`)
    const start = after === 'latest' ? this.changes.length : Number(after)
    const changes = this.changes.slice(start, start + limit)
    if (Number.isNaN(start)) return this.result ?? 'malformed'
    return this.result ?? { changes, next: `${start + changes.length}` }
  }

  nextCommit(): Promise<void> {
    this.waits++
    return this.#commit.promise
  }

  commit(count = 1): void {
    for (let added = 0; added < count; added++) {
      this.changes.push({ ...change, cursor: `${this.changes.length + 1}` })
    }
    const { resolve } = this.#commit
    this.#commit = Promise.withResolvers()
    resolve()
  }

  fail(): void {
    const { reject } = this.#commit
    this.#commit = Promise.withResolvers()
    reject(new Error('the store is failing'))
  }
}

function setUp() {
  const feed = new Feed()
  const shared = new SharedFeed(feed)
  const stop = new AbortController()
  const read = (after?: string, waitMs = LONG_MS, limit = 10) =>
    shared.readNext({ after, limit }, waitMs, stop.signal)
  return { feed, shared, stop, read }
}

/** Lets the feed go on until it waits. Timers end in order, so this takes as many turns on a slow machine. */
async function manyTurns(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await setTimeout(1)
}

const cursors = (page: ChangePage | NoChanges) =>
  typeof page === 'string' ? page : page.changes.map(({ cursor }) => cursor)

t.test('readers at the same position share a wait for commits and their reads', async (t) => {
  const { feed, read } = setUp()
  const pages = Array.from({ length: 1000 }, () => read())
  await setTimeout()
  t.strictSame({ reads: feed.reads, waits: feed.waits }, { reads: ['10 0'], waits: 1 })
  feed.commit()
  for (const page of await Promise.all(pages)) t.strictSame(cursors(page), ['1'])
  t.strictSame({ reads: feed.reads, waits: feed.waits }, { reads: ['10 0', '10 0'], waits: 2 })
})

t.test('readers at other positions, or with another limit, read on their own', async (t) => {
  const { feed, read } = setUp()
  feed.commit(3)
  const pages = await Promise.all([read('0'), read('1'), read('0', LONG_MS, 2)])
  t.strictSame(pages.map(cursors), [
    ['1', '2', '3'],
    ['2', '3'],
    ['1', '2'],
  ])
})

t.test('a cursor that spells undefined is not shared with readers without a cursor', async (t) => {
  const { feed, read } = setUp()
  feed.commit()
  const pages = await Promise.all([read('undefined'), read()])
  t.strictSame(pages.map(cursors), ['malformed', ['1']])
})

t.test('a failure of a read is not shared', async (t) => {
  const { feed, shared } = setUp()
  feed.commit()
  const refusal = new Error('the client has disconnected')
  const request = { after: '0', limit: 10 }
  const refused = shared.readNext(request, LONG_MS, undefined, () => Promise.reject(refusal))
  const page = shared.readNext(request, LONG_MS)
  await t.rejects(refused, refusal)
  t.strictSame(cursors(await page), ['1'])
})

t.test('a commit during a read is not missed', async (t) => {
  const { feed, read } = setUp()
  const gate = Promise.withResolvers<NoChanges>()
  feed.result = gate.promise
  const page = read()
  await setTimeout()
  feed.commit()
  await setTimeout()
  feed.result = undefined
  const late = read()
  t.strictSame(cursors(await late), ['1'], 'a later reader does not share the old read')
  gate.resolve('expired')
  t.equal(await page, 'expired')
})

t.test('a commit during a read that finds nothing causes another read', async (t) => {
  const { feed, read } = setUp()
  const { readChanges } = Feed.prototype
  const gate = Promise.withResolvers<void>()
  t.capture(feed, 'readChanges', async (request: ChangesRequest) => {
    const page = await readChanges.call(feed, request)
    if (feed.changes.length === 0) await gate.promise
    return page
  })
  const page = read()
  await setTimeout()
  feed.commit()
  await manyTurns()
  gate.resolve()
  t.strictSame(cursors(await page), ['1'])
})

t.test('a commit without changes lets the reader wait on', async (t) => {
  const { feed, read } = setUp()
  const page = read()
  for (let commits = 0; commits < 3; commits++) {
    await manyTurns()
    feed.commit(0)
  }
  await manyTurns()
  feed.commit()
  t.strictSame(cursors(await page), ['1'])
})

t.test('latest means the position at the beginning of the wait', async (t) => {
  const { feed, read } = setUp()
  feed.commit(2)
  const page = read('latest')
  await setTimeout()
  feed.commit()
  t.strictSame(cursors(await page), ['3'])
})

t.test('the wait ends with an empty page after its time or by its signal', async (t) => {
  const { read, stop } = setUp()
  t.strictSame(await read('latest', 1), { changes: [], next: '0' })
  const page = read()
  await setTimeout()
  stop.abort()
  t.strictSame(await page, { changes: [], next: '0' })
  t.strictSame(await read(), { changes: [], next: '0' }, 'also if it has aborted before')
})

t.test('a page without changes for another reason is returned at once', async (t) => {
  const { feed, read } = setUp()
  for (const reason of ['malformed', 'expired'] as const) {
    feed.result = Promise.resolve(reason)
    t.equal(await read(reason), reason)
  }
})

t.test('a failed read is not shared with later readers', async (t) => {
  const { feed, read } = setUp()
  const error = new Error('the store is failing')
  feed.result = Promise.reject(error)
  const readers = [read(), read()]
  for (const page of readers) await t.rejects(page, error)
  feed.result = undefined
  feed.commit()
  t.strictSame(cursors(await read()), ['1'])
})

t.test('a wait for commits that fails makes the readers read', async (t) => {
  const { feed, read } = setUp()
  const page = read()
  await setTimeout()
  feed.fail()
  await manyTurns()
  feed.commit()
  t.strictSame(cursors(await page), ['1'])
})

t.test('nobody waits for commits without readers, and later readers do again', async (t) => {
  const { feed, read } = setUp()
  const first = read()
  await setTimeout()
  feed.commit()
  await first
  await manyTurns()
  feed.commit()
  await manyTurns()
  const { waits } = feed
  feed.commit()
  await manyTurns()
  t.equal(feed.waits, waits)
  const second = read('latest')
  await setTimeout()
  feed.commit()
  t.strictSame(cursors(await second), ['4'])
})

t.test('many positions do not fill the memory', async (t) => {
  const { feed, read } = setUp()
  feed.commit(100)
  // Keeps the wait for commits running.
  const waiting = read('latest')
  for (let position = 0; position < 100; position++) await read(`${position}`)
  const before = feed.reads.length
  await read('99')
  await read('0')
  t.strictSame(feed.reads.slice(before), ['10 0'], 'recent pages are kept')
  feed.commit()
  await waiting
})
