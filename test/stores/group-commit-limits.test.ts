import t from 'tap'
import { GroupCommit, WaitingChanges } from '../../src/stores/shared/group-commit.ts'
import {
  measureCall,
  type WriteCall,
  type WriteResult,
} from '../../src/stores/sqlite/writer/write-call.ts'
import {
  creation,
  Disk,
  groupCommit,
  list,
  removal,
  settled,
  stateOf,
  update,
  watch,
} from './disk.ts'

const MEBI = 2 ** 20
const LONG = 'x'.repeat(MEBI)

for (const { threads, count } of [
  { threads: 2, count: 5000 },
  { threads: 256, count: 2500 },
]) {
  t.test(`${count} changes can wait in each of ${threads} threads`, async (t) => {
    const disk = new Disk()
    const waiting = new WaitingChanges(threads)
    const changes = new GroupCommit({ commit: disk.commit, sizeOf: measureCall, waiting })
    const accepted = Array.from({ length: count }, () => watch(changes.submit(removal('x'))))
    const refused = watch(changes.submit(removal('one too many')))
    await disk.endAll(changes)
    t.same(new Set(accepted.map(stateOf)), new Set(['x']))
    t.match(stateOf(refused), `the store is busy: ${count} changes`)
  })
}

interface Limit {
  readonly what: string
  readonly change: WriteCall
  /** How many of the changes can wait, and what they count if that is not their number. */
  readonly room: number
  readonly count?: number
  readonly text: number
  /** The change that is one too many, if it is not a small one. */
  readonly rejected?: WriteCall
}

const LIMITS: Limit[] = [
  { what: 'changes', change: removal('x'), room: 10_000, text: 0 },
  { what: 'text of creates', change: creation(LONG, ''), room: 64, text: 64 * MEBI },
  { what: 'text of tags', change: creation('', LONG), room: 64, text: 64 * MEBI },
  { what: 'text of updates', change: update({ name: LONG, tag: LONG }), room: 32, text: 64 * MEBI },
  {
    what: 'text of own fields',
    change: update({ fields: LONG, clears: LONG }),
    room: 32,
    text: 64 * MEBI,
  },
  {
    what: 'lists',
    change: list(1000, ''),
    room: 8,
    count: 8000,
    text: 0,
    rejected: list(2, ''),
  },
  {
    what: 'lists of an import',
    change: list(16_000, ''),
    room: 8,
    count: 8000,
    text: 0,
    rejected: list(2, ''),
  },
  { what: 'text of lists', change: list(2, LONG), room: 32, count: 64, text: 64 * MEBI },
  {
    what: 'text of versions to change',
    change: update({ tag: null }, [LONG, LONG]),
    room: 32,
    text: 64 * MEBI + 32 * 2 * 16,
  },
  {
    what: 'short versions to remove',
    change: { type: 'remove', id: 1n, expected: Array<string>(2 ** 16).fill('') },
    room: 64,
    text: 64 * MEBI,
  },
]

for (const { what, change, room, count = room, text, rejected } of LIMITS) {
  t.test(`changes are rejected while too many wait: ${what}`, async (t) => {
    const disk = new Disk()
    const changes = groupCommit(disk)
    const waiting = Array.from({ length: room }, () => watch(changes.submit(change)))
    const one = await disk.begun(0)
    const refused = watch(changes.submit(rejected ?? removal('one too many')))
    await settled()
    t.same(new Set(waiting.map(stateOf)), new Set(['waiting']))
    const detail = `${count} changes with ${text} characters are waiting`
    t.equal(stateOf(refused), `StoreUnavailable: the store is busy: ${detail}`)
    one.end.resolve()
    await disk.begun(1)
    const accepted = watch(changes.submit(removal('last')))
    await disk.endAll(changes)
    t.same(
      new Set(waiting.map(stateOf)),
      new Set([change.type === 'changeRecords' ? 'x' : change.type]),
    )
    t.equal(stateOf(accepted), 'last', 'there is room once some have a result')
    t.equal(disk.commits.flatMap((commit) => commit.changes).length, room + 1)
  })
}

t.test('a batch is limited in number and text', async (t) => {
  const disk = new Disk()
  const changes = groupCommit(disk)
  const small = Array.from({ length: 1000 }, () => changes.submit(removal('x')))
  const large = Array.from({ length: 20 }, () => changes.submit(creation(LONG, 'x')))
  await disk.endAll(changes)
  await Promise.all([...small, ...large])
  // The small changes leave room for large ones. The last change may exceed the limit.
  t.same(
    disk.commits.map((commit) => commit.changes.length),
    [512, 488 + 8, 8, 4],
  )
})

t.test('a single change does not wait for a queue of lists', async (t) => {
  const disk = new Disk()
  const changes = groupCommit(disk)
  const lists = Array.from({ length: 5 }, () => changes.submit(list(1000, '')))
  const one = await disk.begun(0)
  const single = watch(changes.submit(removal('single')))
  one.end.resolve()
  const two = await disk.begun(1)
  two.end.resolve()
  await settled()
  t.equal(stateOf(single), 'single')
  await disk.endAll(changes)
  await Promise.all(lists)
  t.same(
    disk.commits.map((commit) => commit.changes.map(({ type }) => type)),
    [['apply'], ['apply', 'changeRecords'], ['apply'], ['apply'], ['apply']],
  )
})

t.test(
  'lists fill the transaction that single changes leave room in, and never starve',
  async (t) => {
    const disk = new Disk()
    const changes = groupCommit(disk)
    const lists = Array.from({ length: 100 }, () => changes.submit(list(10, '')))
    const singles = Array.from({ length: 912 }, () => changes.submit(removal('x')))
    await disk.endAll(changes)
    await Promise.all([...lists, ...singles])
    t.same(
      disk.commits.map((commit) => commit.changes.length),
      // 512 and a batch; 400 and 12 lists; 52 lists; the rest.
      [512 + 1, 400 + 12, 52, 35],
    )
  },
)

t.test(
  'postponed changes come first in the next transaction, and only some can wait',
  async (t) => {
    const made: WriteCall[][] = []
    const changes = new GroupCommit<WriteCall, WriteResult>({
      // Two large changes fill a transaction.
      commit: async (calls) => {
        const large = calls.filter(({ type }) => type === 'remove').slice(2)
        made.push(calls.filter((call) => !large.includes(call)))
        return calls.map((call) => (large.includes(call) ? 'postponed' : 'created'))
      },
      sizeOf: measureCall,
      waiting: new WaitingChanges(4),
    })
    const submit = (id: number) => changes.submit({ type: 'remove', id: BigInt(id) })
    const large = Array.from({ length: 19 }, (_, id) => watch(submit(id)))
    const small = watch(changes.submit(removal('small')))
    await changes.settle()
    await settled()
    const states = large.map(stateOf)
    t.same(states.slice(0, 18), Array(18).fill('created'))
    t.match(states[18], 'the store is busy: too many changes of large plants are waiting')
    t.equal(stateOf(small), 'created')
    t.match(made.slice(0, 2), [
      [{ id: 0n }, { id: 1n }, { type: 'changeRecords' }],
      [{ id: 2n }, { id: 3n }],
    ])
  },
)

t.test('a change larger than the limit is accepted alone', async (t) => {
  const disk = new Disk()
  const changes = groupCommit(disk)
  const huge = 'x'.repeat(65 * MEBI)
  const one = watch(changes.submit(creation(huge)))
  const refused = watch(changes.submit(creation('y')))
  await disk.endAll(changes)
  const two = watch(changes.submit(creation('z')))
  await disk.endAll(changes)
  t.same([one, two].map(stateOf), ['create', 'create'])
  t.match(stateOf(refused), 'the store is busy: 1 changes with 68157440 characters are waiting')
})
