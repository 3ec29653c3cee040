import type { Test } from 'tap'
import { createIn, removeFrom, updateIn } from '../../helpers/plants/single-changes.ts'
import { freezeClock } from '../../helpers/processes/frozen-clock.ts'
import { changesAfter, contentOf, eventually, latest, pageOf, replay } from '../feed-reads.ts'
import { exported, samePlants } from '../plants.ts'
import { type Engine, opener } from '../store-suite.ts'

/** How often a store waits for a commit of another. */
const WAITS = 3

/** The requirements of ChangeFeed for databases that outlive a store, or that several share. */
export function sharedFeedSuite(t: Test, engine: Engine): void {
  t.test('cursors stay valid when the store is reopened', async (t) => {
    const open = await opener(t, engine)
    const before = await open()
    const start = await latest(before)
    await createIn(before, { id: 1n, name: 'x' })
    await createIn(before, { id: 2n, name: 'x' })
    const changes = await changesAfter(before, start)
    await before.close()
    const after = await open()
    t.strictSame(await changesAfter(after, start), changes)
    t.strictSame(await changesAfter(after, changes[0]?.cursor), changes.slice(1))
    const end = await latest(after)
    t.equal(end, changes[1]?.cursor)
    await removeFrom(after, 1n)
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
          await createIn(store, { id, name: `${index}` })
          await updateIn(store, id, { name: `${index} ${number}` })
          if (number % 5 === index) await removeFrom(store, id)
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
    await createIn(other, { id: -1n, name: 'x' })
    freezeClock(t)
    for (let id = 0n; id < WAITS; id++) {
      const cursor = await latest(other)
      const follower = eventually(
        other,
        async () => (await pageOf(other, cursor)).changes.length > 0,
      )
      await createIn(one, { id, name: 'x' })
      await follower
    }
  })
}
