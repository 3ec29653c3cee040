import type { Test } from 'tap'
import { changesAfter, contentOf, eventually, latest, pageOf, replay } from './changes.ts'
import { exported, samePlants } from './plants.ts'
import { type Engine, opener } from './store-suite.ts'

/** How often a store waits for a commit of another. */
const WAITS = 10

/** Without a wake-up, a wait takes a second. */
const LATE_MS = 800

/** The requirements of ChangeFeed for databases that outlive a store, or that several share. */
export function sharedFeedSuite(t: Test, engine: Engine): void {
  t.test('cursors stay valid when the store is reopened', async (t) => {
    const open = await opener(t, engine)
    const before = await open()
    const start = await latest(before)
    await before.create({ id: 1n, name: 'x' })
    await before.create({ id: 2n, name: 'x' })
    const changes = await changesAfter(before, start)
    await before.close()
    const after = await open()
    t.strictSame(await changesAfter(after, start), changes)
    t.strictSame(await changesAfter(after, changes[0]?.cursor), changes.slice(1))
    const end = await latest(after)
    t.equal(end, changes[1]?.cursor)
    await after.remove(1n)
    t.strictSame((await changesAfter(after, end)).map(contentOf), [['removed', 1n]])
  })

  t.test('stores that share a database have the same changes and cursors', async (t) => {
    const open = await opener(t, engine)
    const stores = [await open(), await open(), await open()]
    const [one, other] = stores as [(typeof stores)[0], (typeof stores)[0]]
    const start = await latest(one)
    await Promise.all(
      stores.flatMap((store, index) =>
        Array.from({ length: 50 }, async (_, number) => {
          const id = BigInt(number % 10)
          await store.create({ id, name: `${index}` })
          await store.update(id, { name: `${index} ${number}` })
          if (number % 5 === index) await store.remove(id)
        }),
      ),
    )
    const changes = await changesAfter(one, start)
    t.strictSame(await changesAfter(other, start, 7), changes)
    samePlants(t, replay(changes), await exported(other))
  })

  t.test('a commit of another store ends the wait for the next commit', async (t) => {
    const open = await opener(t, engine)
    const [one, other] = [await open(), await open()]
    // A store watches for commits of others before it makes its first change.
    await other.create({ id: -1n, name: 'x' })
    const delays: number[] = []
    for (let id = 0n; id < WAITS; id++) {
      const cursor = await latest(other)
      let seen = Number.NaN
      const follower = eventually(other, async () => {
        const found = (await pageOf(other, cursor)).changes.length > 0
        seen = performance.now()
        return found
      })
      await one.create({ id, name: 'x' })
      const committed = performance.now()
      await follower
      delays.push(seen - committed)
    }
    delays.sort((a, b) => a - b)
    // Some can be late because the machine is busy.
    t.ok((delays[WAITS - 4] ?? Number.NaN) < LATE_MS, `${delays}`)
  })
}
