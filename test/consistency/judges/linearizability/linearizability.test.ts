/** The judge of linearizability accepts what can have happened, and rejects what cannot. */
import { join } from 'node:path'
import t from 'tap'
import { runs } from '../../../helpers/plants/runs.ts'
import { type Call, History, type Mark } from '../../history.ts'
import { timelinesOf } from '../timelines.ts'
import {
  batches,
  creates,
  fence,
  historyOf,
  ID,
  lists,
  listsTags,
  reads,
  replaces,
  restored,
  settled,
  updates,
} from '../written-histories.ts'
import { judgePlant } from './linearizability.ts'
import { simulated } from './simulated-histories.ts'

type Entries = readonly (Call | Mark)[]

const [fir, maple] = [
  { id: ID, name: 'fir' },
  { id: ID, name: 'maple' },
]

/** Histories without batches, pages and restored plants are those of exhaustive.test.ts. */
const POSSIBLE: Readonly<Record<string, Entries>> = {
  'a replayed and a refused create': [
    creates([0, 1], 'fir', 200),
    creates([2, 3], 'fir', 200),
    creates([4, 5], 'maple', 409),
  ],
  'of two conditional changes, one': [
    creates([0, 1], 'fir', 200),
    replaces([2, 5], 'maple', 200, 'fir'),
    replaces([2, 5], 'oak', 412, 'fir'),
  ],
  'an open change that a service was still at work on when the database settled': [
    creates([0, 1], 'fir', 200),
    replaces([2, 5], 'maple'),
    settled(6, 4),
    reads([7, 8], 'fir'),
    reads([9, 10], 'maple'),
  ],
  'a batch, and another that conflicts': [
    batches([0, 1], [fir, { id: 3n, name: 'fir' }], { created: 2, replayed: 0 }),
    batches([2, 3], [{ id: 3n, name: 'oak' }, maple], { conflict: 1 }),
    reads([4, 5], 'fir'),
  ],
  'pages that omit what does not match, or is beyond their end': [
    creates([0, 1], 'fir', 200),
    lists([2, 3], 'tag=Tree', []),
    lists([2, 3], 'limit=1', [{ id: 3n, name: 'oak' }], 3n),
    lists([2, 3], 'after=4', []),
    listsTags([2, 3], ['Tree']),
  ],
  'a restored plant': [
    creates([0, 1], 'fir', 200),
    replaces([2, 3], 'maple'),
    restored(4, [{ id: ID, name: 'oak' }]),
    reads([5, 6], 'oak'),
  ],
}

const IMPOSSIBLE: Readonly<Record<string, Entries>> = {
  'a stale read': [
    creates([0, 1], 'fir', 200),
    replaces([2, 3], 'maple', 200),
    reads([4, 5], 'fir'),
  ],
  'two winners': [creates([0, 5], 'fir', 200), creates([0, 5], 'maple', 200)],
  'two conditional changes of the same version': [
    creates([0, 1], 'fir', 200),
    replaces([2, 5], 'maple', 200, 'fir'),
    replaces([2, 5], 'oak', 200, 'fir'),
  ],
  'an update that loses another': [
    creates([0, 1], 'fir', 200),
    updates([2, 5], { tag: 'Tree' }, 200, { name: 'fir', tag: 'Tree' }),
    updates([2, 5], { name: 'oak' }, 200, { name: 'oak' }),
    reads([6, 7], 'oak'),
  ],
  'an open change after the database has settled': [
    creates([0, 1], 'fir', 200),
    replaces([2, 3], 'maple'),
    settled(4),
    reads([5, 6], 'fir'),
    reads([7, 8], 'maple'),
  ],
  'half a batch': [
    batches([0, 1], [fir, { id: 3n, name: 'fir' }], { created: 2, replayed: 0 }),
    reads([2, 3]),
  ],
  'a batch that fails without a conflict': [
    batches([0, 1], [{ id: 3n, name: 'oak' }, maple], { conflict: 1 }),
  ],
  'a batch that fails and is stored': [
    batches([0, 1], [{ id: 3n, name: 'oak' }, maple], { conflict: 0 }),
    reads([2, 3], 'maple'),
  ],
  'a page that lacks a plant': [creates([0, 1], 'fir', 200), lists([2, 3], '', [])],
  'a page that lacks a plant before its end': [
    creates([0, 1], 'fir', 200),
    lists([2, 3], 'limit=1', [{ id: 2n ** 53n, name: 'oak' }], 2n ** 53n),
  ],
  'a list of tags with one that the plant has not': [
    creates([0, 1], 'fir', 200),
    listsTags([2, 3], [`red ${ID}`]),
  ],
  'a change that was undone by a restore': [
    creates([0, 1], 'fir', 200),
    restored(4, []),
    reads([5, 6], 'fir'),
  ],
}

for (const [expected, histories] of [
  ['linearizable', POSSIBLE],
  ['violated', IMPOSSIBLE],
] as const) {
  for (const [name, entries] of Object.entries(histories)) {
    t.test(`${name}: ${expected}`, async (t) => {
      const { marks, ...history } = historyOf(entries)
      const { actions, impossible } = timelinesOf(history)
      t.same(impossible, [])
      t.equal(judgePlant(ID, actions.get(ID) ?? [], marks).is, expected)
    })
  }
}

for (let seed = 1; seed <= runs(2); seed++) {
  for (const fences of [[], [20, 45, 70]]) {
    const name = `seed ${seed}, ${fences.length} fences`
    const calls = simulated(seed, { calls: 1000, lost: 500, fences })
    const marks = fences.map(fence)

    t.test(`hundreds of open changes: linearizable, ${name}`, async (t) => {
      const actions = timelinesOf({ calls }).actions.get(ID) ?? []
      t.ok(actions.filter(({ isOpen }) => isOpen).length > 350)
      t.equal(judgePlant(ID, actions, marks).is, 'linearizable')
    })

    t.test(`hundreds of open changes: a stale read is violated, ${name}`, async (t) => {
      const actions = timelinesOf({ calls: withStaleRead(calls) }).actions.get(ID) ?? []
      t.equal(judgePlant(ID, actions, marks).is, 'violated')
    })
  }
}

/** Answers the last read with the plant of a create, long after it was removed. */
function withStaleRead(calls: readonly Call[]): Call[] {
  const created = calls
    .toSorted((one, other) => one.called - other.called)
    .find(({ operation, answer }) => operation === 'create' && answer?.status === 200)
  const [plant] = created?.arguments.plants ?? []
  const last = calls.reduce((one, other) => (other.called > one.called ? other : one))
  return [...calls, reads([last.called + 2, last.called + 3], plant?.name)]
}

t.test('a violation shows only the calls that it needs', async (t) => {
  const history = historyOf([
    creates([0, 1], 'fir', 200),
    ...[2, 4, 6, 8].map((at) => reads([at, at + 1], 'fir')),
    replaces([10, 11], 'maple', 200),
    reads([12, 13], 'maple'),
    reads([14, 15], 'fir'),
  ])
  const verdict = judgePlant(ID, timelinesOf(history).actions.get(ID) ?? [], [])
  t.match(verdict, { is: 'violated', states: [undefined] })
  const shown = 'actions' in verdict ? verdict.actions.map(({ call }) => call.called) : []
  t.same(shown, [0, 10, 14])
})

t.test('a saved history is judged like the original', async (t) => {
  const file = join(t.testdir(), 'history.jsonl')
  const history = historyOf([...(IMPOSSIBLE['a stale read'] ?? []), fence(6), restored(7, [fir])])
  history.feed = { changes: [], stored: [fir] }
  history.save(file)
  t.strictSame(History.load(file), history)
})
