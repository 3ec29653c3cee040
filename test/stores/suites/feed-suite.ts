import type { Test } from 'tap'
import type { Change } from '../../../service/store/change-feed.ts'
import { contentVersion } from '../../../service/store/content-version.ts'
import type { NewPlant } from '../../../service/store/plant-store.ts'
import type { Store } from '../../../src/stores/shared/store.ts'
import { createAll } from '../../helpers/plants/lists.ts'
import { createIn, removeFrom, updateIn } from '../../helpers/plants/single-changes.ts'
import { isSettled } from '../../helpers/processes/settled.ts'
import { changesAfter, contentOf, latest, pageOf } from '../feed-reads.ts'
import { byId, MEGABYTE, samePlants } from '../plants.ts'
import { type Engine, opener } from '../store-suite.ts'

/** The requirements of ChangeFeed. */
export function feedSuite(t: Test, engine: Engine): void {
  let store: Store
  let open: () => Promise<Store>
  let lastId = 0n
  t.before(async () => {
    open = await opener(t, engine)
    store = await open()
  })
  /** The changes that a function makes, without their cursors and times. */
  const changesDuring = async (work: () => unknown) => {
    const start = await latest(store)
    await work()
    return (await changesAfter(store, start)).map(contentOf)
  }

  t.test('a new feed is empty, and its cursor is valid', async (t) => {
    const empty = await (await opener(t, engine))()
    const { changes, next } = await pageOf(empty, undefined)
    t.same(changes, [])
    t.same(await pageOf(empty, next), { changes, next })
    t.same(await pageOf(empty, 'latest'), { changes, next })
    await createIn(empty, { id: 1n, name: 'x' })
    t.equal((await pageOf(empty, next)).changes.length, 1)
    t.equal((await pageOf(empty, undefined, 1)).changes.length, 1)
  })

  t.test('each kind of change appears once, with its content', async (t) => {
    const id = ++lastId
    const changes = await changesDuring(async () => {
      await createIn(store, { id, name: 'a' })
      await updateIn(store, id, { tag: '' })
      await updateIn(store, id, { name: 'b', tag: null }, [contentVersion({ name: 'a', tag: '' })])
      await removeFrom(store, id)
      await createIn(store, { id, name: 'b', tag: 'c' })
    })
    t.strictSame(changes, [
      ['created', id, { name: 'a' }],
      ['changed', id, { name: 'a', tag: '' }],
      ['changed', id, { name: 'b' }],
      ['removed', id],
      ['created', id, { name: 'b', tag: 'c' }],
    ])
  })

  t.test('a change has the time at which it was made', async (t) => {
    const start = await latest(store)
    const before = Date.now()
    await createIn(store, { id: ++lastId, name: 'x' })
    const after = Date.now()
    const [change] = await changesAfter(store, start)
    t.match(change?.at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    const at = Date.parse(change?.at ?? '')
    // The clocks may differ by a rounded millisecond.
    t.ok(at >= before - 1 && at <= after + 1, `${before} <= ${at} <= ${after}`)
  })

  t.test('pages of any size contain each change once, in order', async (t) => {
    const start = await latest(store)
    const ids = Array.from({ length: 100 }, () => ++lastId)
    for (const id of ids) await createIn(store, { id, name: 'x' })
    for (const limit of [1, 7, 34, 99, 100, 101]) {
      const changes = await changesAfter(store, start, limit)
      t.strictSame(
        changes.map(({ id }) => id),
        ids,
      )
      const { changes: page, next } = await pageOf(store, start, limit)
      t.equal(page.length, Math.min(limit, 100))
      t.equal(next, page.at(-1)?.cursor)
    }
    const all = await changesAfter(store, start)
    t.equal(new Set(all.map(({ cursor }) => cursor)).size, all.length)
    for (const index of [0, 33, 50, 99]) {
      const rest = await changesAfter(store, all[index]?.cursor)
      t.strictSame(rest, all.slice(index + 1))
    }
  })

  t.test('the end of each list is known, on pages of any size', async (t) => {
    const start = await latest(store)
    const ids = Array.from({ length: 30 }, () => ++lastId)
    const [first = 0n, second = 0n, ...others] = ids
    await createIn(store, { id: first, name: 'x' })
    // Both can be in one transaction, also with the single change.
    await Promise.all([
      createAll(
        store,
        others.map((id) => ({ id, name: 'x' })),
      ),
      createIn(store, { id: second, name: 'x' }),
      store.apply(
        others.map((id) => ({ type: 'put', id, name: 'y' })),
        'all-or-none',
      ),
    ])
    // Refused as a whole, so it leaves nothing.
    const refused = [
      { type: 'put', id: first, name: 'y' },
      { type: 'create', id: second, name: 'y' },
    ] as const
    await Promise.all([store.apply(refused, 'all-or-none'), updateIn(store, first, { name: 'z' })])
    for (const limit of [1, 5, 29, 30, 58, 1000]) {
      const units = unitsOf(await changesAfter(store, start, limit))
      const sizes = units.map((changes) => {
        const changed = changes.filter(({ id }) => others.includes(id))
        t.ok([0, 28, 56].includes(changed.length), `${limit}: ${changed.length}`)
        return changes.length
      })
      t.equal(
        sizes.reduce((sum, size) => sum + size),
        59,
      )
      t.same(units[0]?.map(contentOf), [['created', first, { name: 'x' }]])
      t.same(units.at(-1)?.map(contentOf), [['changed', first, { name: 'z' }]])
    }
  })

  t.test('large changes shorten pages, but never to zero changes', async (t) => {
    const start = await latest(store)
    const plants = Array.from({ length: 6 }, (_, index) => ({
      id: ++lastId,
      name: index % 3 === 0 ? 'small' : MEGABYTE,
      tag: index % 3 === 1 ? MEGABYTE : 'x',
    }))
    await createAll(store, plants)
    const sizes: number[] = []
    const changes: Change[] = []
    let page = await pageOf(store, start)
    while (page.changes.length > 0) {
      sizes.push(page.changes.length)
      changes.push(...page.changes)
      page = await pageOf(store, page.next)
    }
    samePlants(t, byId(plantsIn(changes)), plants)
    t.ok(sizes.length >= 4, `${sizes}`)
  })

  t.test('a string that is no cursor is malformed', async (t) => {
    const cursor = await latest(store)
    const strings = ['', ' ', 'x', 'Latest', `${cursor}A`, `${cursor}=`, ` ${cursor}`]
    for (const after of [...strings, cursor.slice(1), cursor.slice(0, -1), '_'.repeat(30)]) {
      t.equal(await store.readChanges({ after, limit: 1 }), 'malformed', JSON.stringify(after))
    }
    t.match(cursor, /^[\w-]+$/)
  })

  t.test('the cursor of another feed is expired', async (t) => {
    const other = await (await opener(t, engine))()
    await createIn(other, { id: 1n, name: 'x' })
    for (const after of [await latest(other), (await pageOf(other, undefined)).next]) {
      t.equal(await store.readChanges({ after, limit: 1 }), 'expired')
    }
  })

  t.test('nextCommit resolves at the next commit', async (t) => {
    const quiet = await (await opener(t, engine))()
    const first = quiet.nextCommit()
    t.notOk(await isSettled(first))
    await createIn(quiet, { id: 1n, name: 'x' })
    await first
    const second = quiet.nextCommit()
    await removeFrom(quiet, 1n)
    await second
  })

  t.test('nextCommit resolves when the store closes', async (t) => {
    const other = await (await opener(t, engine))()
    const committed = other.nextCommit()
    await other.close()
    await committed
  })
}

/** Groups changes by the ends of transactions. The last one must have ended. */
function unitsOf(changes: readonly Change[]): Change[][] {
  const units: Change[][] = [[]]
  for (const change of changes) {
    units.at(-1)?.push(change)
    if (change.endsTransaction) units.push([])
  }
  if (units.pop()?.length !== 0) throw new Error('the last transaction has no end')
  return units
}

function plantsIn(changes: readonly Change[]): NewPlant[] {
  return changes.flatMap(({ id, plant }) => (plant === undefined ? [] : [{ id, ...plant }]))
}
