import t from 'tap'
import type { ChangesPage, ChangesRequest } from '../../service/change-feed.ts'
import { SerialFeed } from '../../src/webhooks/serial-feed.ts'
import { changesAfter, latest } from '../stores/changes.ts'
import { createPlants, eventually, newPlace } from './setting.ts'

/** Longer than the test takes. */
const LONG_MS = 600_000

t.test('one page is read at a time, and readers inside the last one get its rest', async (t) => {
  const { store } = await newPlace(t)
  const start = await latest(store)
  await createPlants(store, 1, 10)
  const cursors = (await changesAfter(store, start)).map(({ cursor }) => cursor)
  let inFlight = 0
  let reads = 0
  const counted = {
    nextCommit: () => store.nextCommit(),
    readChanges: async (request: ChangesRequest) => {
      inFlight += 1
      reads += 1
      t.equal(inFlight, 1)
      const page = await store.readChanges(request)
      inFlight -= 1
      return page
    },
  }
  const feed = new SerialFeed(counted, LONG_MS)
  const positions = [start, ...cursors.slice(0, -1)]
  const pages = await Promise.all(
    positions.map((after) => feed.readChanges({ after, limit: 100 }) as Promise<ChangesPage>),
  )
  for (const [index, { changes, next }] of pages.entries()) {
    t.same(
      changes.map(({ cursor }) => cursor),
      cursors.slice(index),
    )
    t.equal(next, cursors.at(-1))
  }
  // A reader that comes later does not wait for a turn either.
  t.match(await feed.readChanges({ after: cursors[6], limit: 100 }), { changes: { length: 3 } })
  t.equal(reads, 1)
  const limited = await feed.readChanges({ after: cursors[0], limit: 2 })
  t.match(limited, { changes: { length: 2 }, next: cursors[2] })
  await createPlants(store, 11, 1)
  t.match(await feed.readChanges({ after: cursors.at(-1), limit: 100 }), {
    changes: [{ id: 11n }],
  })
  t.equal(await feed.readChanges({ after: 'malformed', limit: 100 }), 'malformed')
})

t.test('the rest of a page is returned only for a short time', async (t) => {
  const { store } = await newPlace(t)
  const start = await latest(store)
  await createPlants(store, 1, 2)
  const feed = new SerialFeed(store)
  const page = (await feed.readChanges({ after: start, limit: 100 })) as ChangesPage
  await createPlants(store, 3, 1)
  const after = page.changes[0]?.cursor
  const isCurrent = async () => {
    const rest = (await feed.readChanges({ after, limit: 100 })) as ChangesPage
    return rest.changes.length === 2
  }
  await eventually(isCurrent)
})
