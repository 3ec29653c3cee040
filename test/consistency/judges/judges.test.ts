/** The judges of batches, the feed, webhooks, mirrors and overlaps accept what is right, and reject what is not. */
import t from 'tap'
import type { Change } from '../../../service/store/change-feed.ts'
import type { StoredPlant } from '../../../service/store/plant-store.ts'
import { judgeBatches } from './batches.ts'
import { judgeFeed, judgeFollower } from './feed.ts'
import { judgeMirror, judgePosition } from './mirror.ts'
import { overlapOf } from './overlap.ts'
import { timelinesOf } from './timelines.ts'
import { type Delivery, judgeWebhook } from './webhooks.ts'
import {
  batches,
  creates,
  historyOf,
  ID,
  lists,
  reads,
  removes,
  replaces,
  restored,
  updates,
} from './written-histories.ts'

const OTHER = 3n
const [fir, other] = [
  { id: ID, name: 'fir' },
  { id: OTHER, name: 'other fir' },
]
const created = batches([0, 1], [other, fir], { created: 2, replayed: 0 })

for (const { name, calls, faults } of [
  { name: 'a whole batch', calls: [created, lists([2, 3], '', [other, fir])], faults: 0 },
  { name: 'half a batch', calls: [created, lists([2, 3], '', [other])], faults: 1 },
  {
    name: 'half an open batch',
    calls: [batches([0, 1], [other, fir]), lists([2, 3], '', [other])],
    faults: 1,
  },
  {
    name: 'a page with no more',
    calls: [created, lists([2, 3], 'limit=1', [other], OTHER)],
    faults: 0,
  },
  {
    name: 'a removed plant',
    calls: [created, removes([1, 2], 204), lists([2, 3], '', [other])],
    faults: 0,
  },
  {
    name: 'a plant that was removed before',
    calls: [removes([-2, -1], 204), created, lists([2, 3], '', [other])],
    faults: 1,
  },
  {
    name: 'a replaced plant',
    calls: [
      created,
      replaces([1, 2], 'oak', 200),
      lists([2, 3], '', [other, { id: ID, name: 'oak' }]),
    ],
    faults: 0,
  },
]) {
  t.test(`batches: ${name}`, async (t) => {
    t.equal(judgeBatches(historyOf(calls)).length, faults)
  })
}

function change(
  type: Change['type'],
  name = '',
  id = ID,
  cursor = `${type} ${name} ${id}`,
): Change {
  const made = { cursor, at: '2026-11-25T12:00:00.000Z', id }
  return type === 'removed' ? { ...made, type } : { ...made, type, plant: { name } }
}

function ended(change: Change): Change {
  return { ...change, endsTransaction: true }
}

const CALLS = [
  creates([0, 1], 'fir', 200),
  replaces([2, 3], 'oak', 200),
  removes([4, 5], 204),
  creates([6, 7], 'pine', 200),
  creates([6, 7], 'other fir', 200, OTHER),
]
/** The last two changes are those of one transaction. */
const FEED = [
  ended(change('created', 'fir')),
  ended(change('changed', 'oak')),
  ended(change('removed')),
  change('created', 'other fir', OTHER),
  ended(change('created', 'pine')),
]
const STORED = [other, { id: ID, name: 'pine' }]

for (const { name, calls = CALLS, feed, stored = STORED, faults } of [
  { name: 'what was acknowledged', feed: FEED, faults: [] },
  { name: 'a lost change', feed: FEED.toSpliced(1, 1), faults: [/lacks .* replace/] },
  {
    name: 'a repeated change',
    feed: FEED.toSpliced(1, 0, FEED[0] as Change),
    faults: [/cursor/, /contradict/],
  },
  {
    name: 'a lost removal',
    feed: FEED.toSpliced(2, 1),
    faults: [/contradict/, /0 removals/],
  },
  {
    name: 'a change that nobody made',
    feed: [...FEED, change('changed', 'ash')],
    faults: [/yield/, /nobody made/],
  },
  {
    name: 'an order that is not that of the calls',
    calls: [creates([0, 1], 'pine', 200), creates([6, 7], 'other fir', 200, OTHER)],
    feed: [change('created', 'other fir', OTHER), change('created', 'pine')],
    faults: [/is before/],
  },
  {
    name: 'concurrent changes to different plants in any order',
    calls: [creates([0, 7], 'pine', 200), creates([1, 6], 'other fir', 200, OTHER)],
    feed: [change('created', 'other fir', OTHER), change('created', 'pine')],
    faults: [],
  },
  ...[
    {
      name: 'concurrent changes to a plant in the order of reads',
      names: ['oak', 'ash'],
      faults: [],
    },
    {
      name: 'concurrent changes to a plant that reads have shown the other way round',
      names: ['ash', 'oak'],
      faults: [/is before/],
    },
  ].map(({ names, ...others }) => ({
    ...others,
    calls: [
      creates([0, 1], 'fir', 200),
      replaces([2, 9], 'oak', 200),
      replaces([2, 9], 'ash', 200),
      reads([3, 4], 'oak'),
      reads([5, 6], 'ash'),
      replaces([10, 11], 'pine', 200),
    ],
    feed: [
      change('created', 'fir'),
      ...names.map((name) => change('changed', name)),
      change('changed', 'pine'),
    ],
    stored: [{ id: ID, name: 'pine' }],
  })),
  {
    name: 'a lost update of a tag',
    calls: [
      creates([0, 1], 'fir', 200),
      updates([2, 3], { tag: 'Tree' }, 200, { name: 'fir', tag: 'Tree' }),
    ],
    feed: [change('created', 'fir')],
    stored: [fir],
    faults: [/lacks .* update/],
  },
  {
    name: 'a read of what the feed never had',
    calls: [creates([0, 1], 'fir', 200), replaces([2, 3], 'oak'), reads([4, 5], 'oak')],
    feed: [change('created', 'fir')],
    stored: [fir],
    faults: [/lacks .* get/],
  },
  {
    name: 'a change that a restore has undone',
    calls: [creates([0, 1], 'fir', 200), restored(2, []), creates([3, 4], 'oak', 200)],
    feed: [change('created', 'oak')],
    stored: [{ id: ID, name: 'oak' }],
    faults: [],
  },
  {
    name: 'a replay of what was made before a restore',
    calls: [
      creates([0, 1], 'fir'),
      restored(2, [fir]),
      creates([3, 4], 'other fir', 200, OTHER),
      creates([5, 6], 'fir', 200),
    ],
    feed: [change('created', 'fir'), change('created', 'other fir', OTHER)],
    stored: [other, fir],
    faults: [],
  },
]) {
  t.test(`feed: ${name}`, async (t) => {
    t.match(judgeFeed(historyOf(calls), feed, stored as StoredPlant[]), faults)
    t.equal(judgeFeed(historyOf(calls), feed, stored as StoredPlant[]).length, faults.length)
  })
}

for (const { name, received, faults } of [
  { name: 'all changes', received: FEED, faults: 0 },
  { name: 'all changes since it began', received: FEED.slice(2), faults: 0 },
  { name: 'a change twice', received: FEED.toSpliced(1, 0, FEED[1] as Change), faults: 1 },
  { name: 'a last change twice', received: [...FEED, FEED.at(-1) as Change], faults: 1 },
  { name: 'a skipped change', received: FEED.toSpliced(1, 1), faults: 1 },
  { name: 'no last change', received: FEED.slice(0, -1), faults: 1 },
]) {
  t.test(`follower: ${name}`, async (t) => {
    t.equal(judgeFollower(received, FEED).length, faults)
  })
}

/** A delivery whose place in the list is its time. */
type Untimed = Omit<Delivery, 'at' | 'ended'>

const DELIVERIES: readonly Untimed[] = [
  { id: '1', event: 'newPlant', body: '{"id":4,"name":"fir"}' },
  { id: '4', event: 'newPlant', body: '{"id":3,"name":"other fir"}' },
  { id: '2', event: 'plantChanged', body: '{"id":4,"name":"oak"}' },
  { id: '3', event: 'plantRemoved', body: '{"id":4}' },
  { id: '5', event: 'newPlant', body: '{"id":4,"name":"pine"}' },
]
const [one, , two] = DELIVERIES as [Untimed, Untimed, Untimed]

for (const { name, deliveries, firstEnds = 1, faults } of [
  { name: 'all events, those of two plants in another order', deliveries: DELIVERIES, faults: 0 },
  { name: 'a repeated event', deliveries: [...DELIVERIES, one], faults: 0 },
  {
    name: 'a repetition with another body',
    deliveries: [...DELIVERIES, { ...one, body: two.body }],
    faults: 1,
  },
  { name: 'a lost event', deliveries: DELIVERIES.toSpliced(2, 1), faults: 1 },
  {
    name: 'events of a plant in another order',
    deliveries: DELIVERIES.with(0, two).with(2, one),
    faults: 1,
  },
  { name: 'two plants at a time', deliveries: DELIVERIES, firstEnds: 2, faults: 0 },
  { name: 'two events of a plant at a time', deliveries: DELIVERIES, firstEnds: 3, faults: 1 },
  { name: 'an event of no change', deliveries: [...DELIVERIES, { ...one, id: '6' }], faults: 1 },
]) {
  t.test(`webhooks: ${name}`, async (t) => {
    const timed = deliveries.map((each, at) => ({
      ...each,
      at,
      ended: at === 0 ? firstEnds : at + 1,
    }))
    t.equal(judgeWebhook(timed, FEED).length, faults)
  })
}

for (const { name, observed, faults } of [
  { name: 'states of its source', observed: [[], [fir], [fir], [], STORED], faults: 0 },
  { name: 'a part of a transaction', observed: [[], [other], STORED], faults: 1 },
  { name: 'a part of the last transaction', observed: [[other]], faults: 1 },
  { name: 'a state that it never had', observed: [[fir], [fir, other]], faults: 1 },
  { name: 'a state of before', observed: [[{ id: ID, name: 'oak' }], [fir]], faults: 1 },
]) {
  t.test(`mirror: ${name}`, async (t) => {
    t.equal(judgeMirror(observed, FEED).length, faults)
  })
}

const [first, , , fourth, last] = FEED as [Change, Change, Change, Change, Change]

for (const { name, cursor, consistentAt, plants, faults } of [
  { name: 'before the first change', cursor: 'start', plants: [], faults: 0 },
  { name: 'after a change', cursor: first.cursor, plants: [fir], faults: 0 },
  { name: 'within a transaction', cursor: fourth.cursor, plants: [other], faults: 1 },
  { name: 'the position is ahead of the plants', cursor: last.cursor, plants: [fir], faults: 1 },
  { name: 'the plants are ahead of the position', cursor: 'start', plants: [fir], faults: 1 },
  {
    name: 'an incomplete copy',
    cursor: first.cursor,
    consistentAt: last.cursor,
    plants: [],
    faults: 0,
  },
]) {
  t.test(`killed mirror: ${name}`, async (t) => {
    const restriction = { source: 'http://source.example', cursor, consistentAt }
    t.equal(judgePosition({ restriction, plants }, FEED).length, faults)
  })
}

t.test(
  'a pair overlaps if one of its calls is a change and neither ended before the other began',
  async (t) => {
    const { actions } = timelinesOf(
      historyOf([
        creates([0, 4], 'fir', 200),
        reads([1, 2], 'fir'),
        reads([1, 2], 'fir'),
        replaces([3, 6], 'oak'),
        removes([5, 7], 204),
      ]),
    )
    t.same(overlapOf(actions.get(ID) ?? []), { pairs: 4, open: 1 })
  },
)
