/** Following a store in several threads. */
import { once } from 'node:events'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import t from 'tap'
import { type SqliteLink, SqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts'
import type { Seen, Work } from './follow-in-thread.ts'

const script = new URL('./follow-in-thread.ts', import.meta.url)

const FOLLOWERS = 3
const CHANGES = 20

/** The limit for the median in nanoseconds, because other programs can suspend a thread for longer. */
const DELAY_NS = 100_000_000n

/** The limit for all but the slowest 5 %. A lost wake-up takes up to a second. */
const LATE_NS = 500_000_000n

t.test('followers in all threads see every change of this and other processes', async (t) => {
  const options = { file: join(t.testdir(), 'plants.db'), lockTimeout: 5000 }
  const store = new SqliteStore(options)
  const other = new SqliteStore({ ...options, sameThread: true })
  const links = store.share(FOLLOWERS) ?? []
  const threads = links.map(({ data, transferList }) => {
    const link = data as SqliteLink
    return new Worker(script, { workerData: { options, link } satisfies Work, transferList })
  })
  const ended = threads.map((thread) => once(thread, 'exit'))
  await Promise.all(threads.map((thread) => once(thread, 'message')))
  const delays: bigint[] = []
  const see = async (id: bigint, change: () => Promise<unknown>) => {
    const seen = threads.map((thread) => nextSeen(thread))
    await change()
    const committed = process.hrtime.bigint()
    for (const each of await Promise.all(seen)) {
      t.equal(each.id, id)
      delays.push(each.at - committed)
    }
  }
  for (let id = 0n; id < CHANGES; id++) {
    await see(id, () => (id % 2n === 0n ? store : other).create({ id, name: 'x' }))
  }
  await see(0n, () => store.remove(0n))
  await Promise.all(ended)
  await other.close()
  await store.close()
  delays.sort((one, another) => Number(one - another))
  const median = delays[delays.length >> 1] ?? 0n
  t.ok(median < DELAY_NS, `${median} ns`)
  const late = delays[Math.floor(0.95 * delays.length)] ?? LATE_NS
  t.ok(late < LATE_NS, `${late} ns`)
  t.equal(delays.length, FOLLOWERS * (CHANGES + 1))
})

async function nextSeen(thread: Worker): Promise<Seen> {
  const [seen] = await once(thread, 'message')
  return seen
}
