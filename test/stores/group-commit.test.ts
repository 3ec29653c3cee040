import t from 'tap'
import { type PlantPatch, StoreUnavailable } from '../../service/plant-store.ts'
import { GroupCommit } from '../../src/stores/group-commit.ts'
import { sizeOf } from '../../src/stores/sqlite/change-size.ts'
import type { Change, ChangeResult } from '../../src/stores/sqlite/writer.ts'

type Changes = GroupCommit<Change, ChangeResult>

/** A disk whose every commit waits until the test ends it. */
class Disk {
  readonly commits: { changes: readonly Change[]; end: PromiseWithResolvers<void> }[] = []
  #started = Promise.withResolvers<void>()

  commit = async (changes: readonly Change[]): Promise<ChangeResult[]> => {
    const end = Promise.withResolvers<void>()
    this.commits.push({ changes, end })
    this.#started.resolve()
    await end.promise
    return changes.map(([what, name]) => (what === 'removeToken' ? name : what) as ChangeResult)
  }

  /** Resolves to the commit of that number, from 0, when it has begun. */
  async begun(number: number) {
    while (this.commits.length <= number) {
      await this.#started.promise
      this.#started = Promise.withResolvers()
    }
    return this.commits[number] as (typeof this.commits)[number]
  }

  /** Ends every commit, those that are to come included, until nothing is waiting. */
  async endAll(changes: Changes): Promise<void> {
    let settled = false
    const done = changes.settle().then(() => {
      settled = true
    })
    for (let number = 0; !settled; number++) {
      const next = await Promise.race([this.begun(number), done])
      next?.end.resolve()
    }
  }
}

t.test(
  'what arrives in one turn is committed together, in order, and answered after it',
  async (t) => {
    const disk = new Disk()
    const changes = groupCommit(disk, 1)
    const watched = ['a', 'b', 'c'].map((name) => watch(changes.change(removal(name))))
    const { changes: together, end } = await disk.begun(0)
    t.same(together, ['a', 'b', 'c'].map(removal))
    await settled()
    t.same(watched.map(stateOf), ['waits', 'waits', 'waits'])
    end.resolve()
    await changes.settle()
    t.same(watched.map(stateOf), ['a', 'b', 'c'])
  },
)

t.test('what arrives during a commit goes together in the next, and waits for that', async (t) => {
  const disk = new Disk()
  const changes = groupCommit(disk, 1)
  const first = watch(changes.change(removal('first')))
  const one = await disk.begun(0)
  const later = ['a', 'b'].map((name) => watch(changes.change(removal(name))))
  await settled()
  t.equal(disk.commits.length, 1, 'one commit at a time')
  one.end.resolve()
  const two = await disk.begun(1)
  t.same(two.changes, ['a', 'b'].map(removal))
  await settled()
  t.same([first, ...later].map(stateOf), ['first', 'waits', 'waits'])
  two.end.resolve()
  await changes.settle()
  t.same(later.map(stateOf), ['a', 'b'])
})

t.test('two commits are asked for at a time, each with what arrived by then', async (t) => {
  const disk = new Disk()
  const changes = groupCommit(disk)
  const first = watch(changes.change(removal('first')))
  const one = await disk.begun(0)
  const second = watch(changes.change(removal('second')))
  const two = await disk.begun(1)
  t.same(two.changes, [removal('second')])
  const later = ['a', 'b'].map((name) => watch(changes.change(removal(name))))
  await settled()
  t.equal(disk.commits.length, 2)
  one.end.resolve()
  const three = await disk.begun(2)
  t.same(three.changes, ['a', 'b'].map(removal))
  t.same([first, second, ...later].map(stateOf), ['first', 'waits', 'waits', 'waits'])
  two.end.resolve()
  three.end.resolve()
  await changes.settle()
  t.same([second, ...later].map(stateOf), ['second', 'a', 'b'])
})

t.test('what was handed over behind a commit waits as well', async (t) => {
  const disk = new Disk()
  const changes = groupCommit(disk)
  const refusal = 'StoreUnavailable: the store is busy: 10000 changes with 0 characters are waiting'
  changes.change(removal('first'))
  const one = await disk.begun(0)
  const waiting = Array.from({ length: 10_000 }, () => watch(changes.change(removal('x'))))
  await disk.begun(1)
  const refused = watch(changes.change(removal('too much')))
  await settled()
  t.equal(stateOf(refused), refusal)
  one.end.resolve()
  await disk.begun(2)
  const accepted = Array.from({ length: 512 }, () => watch(changes.change(removal('last'))))
  const refusedAgain = watch(changes.change(removal('too much')))
  await settled()
  t.equal(stateOf(refusedAgain), refusal, 'there is room for as many as are on their way')
  await disk.endAll(changes)
  t.same(new Set(waiting.map(stateOf)), new Set(['x']))
  t.same(new Set(accepted.map(stateOf)), new Set(['last']))
})

t.test('a commit that fails fails what has arrived, not what was handed over', async (t) => {
  const disk = new Disk()
  const changes = groupCommit(disk)
  const first = watch(changes.change(removal('a')))
  const one = await disk.begun(0)
  const handedOver = watch(changes.change(removal('b')))
  const two = await disk.begun(1)
  const waiting = watch(changes.change(removal('c')))
  one.end.reject(new StoreUnavailable('failing', 'SQLITE_FULL'))
  await settled()
  const failed = 'StoreUnavailable: the store is failing: SQLITE_FULL'
  t.same([first, handedOver, waiting].map(stateOf), [failed, 'waits', failed])
  two.end.resolve()
  await changes.settle()
  t.equal(stateOf(handedOver), 'b')
})

t.test('a commit that fails fails its own changes; the next ones work', async (t) => {
  const disk = new Disk()
  const changes = groupCommit(disk, 1)
  const failed = ['a', 'b'].map((name) => watch(changes.change(removal(name))))
  const one = await disk.begun(0)
  const waiting = watch(changes.change(removal('c')))
  one.end.reject(new Error('a bug'))
  const two = await disk.begun(1)
  t.same([...failed, waiting].map(stateOf), ['Error: a bug', 'Error: a bug', 'waits'])
  two.end.resolve()
  await changes.settle()
  t.equal(stateOf(waiting), 'c')
})

t.test(
  'a store that is unavailable fails what waits for it as well; then it recovers',
  async (t) => {
    const disk = new Disk()
    const changes = groupCommit(disk, 1)
    const failed = [watch(changes.change(removal('a')))]
    const one = await disk.begun(0)
    for (let index = 0; index < 1000; index++) failed.push(watch(changes.change(removal('b'))))
    one.end.reject(new StoreUnavailable('failing', 'SQLITE_FULL'))
    await changes.settle()
    const states = new Set(failed.map(stateOf))
    t.same([...states], ['StoreUnavailable: the store is failing: SQLITE_FULL'])
    t.equal(disk.commits.length, 1, 'what waited was not tried')
    const later = watch(changes.change(removal('c')))
    const two = await disk.begun(1)
    two.end.resolve()
    await changes.settle()
    t.equal(stateOf(later), 'c')
  },
)

const MEBI = 2 ** 20
const LONG = 'x'.repeat(MEBI)

const TOO_MUCH = [
  { what: 'changes', change: removal('x'), room: 10_000, text: 0 },
  { what: 'text of creates', change: creation(LONG, ''), room: 64, text: 64 * MEBI },
  { what: 'text of tags', change: creation('', LONG), room: 64, text: 64 * MEBI },
  { what: 'text of updates', change: update({ name: LONG, tag: LONG }), room: 32, text: 64 * MEBI },
  { what: 'text of imports', change: imports(LONG, LONG), room: 32, text: 64 * MEBI },
  {
    what: 'text of versions to change',
    change: update({ tag: null }, [LONG, LONG]),
    room: 32,
    text: 64 * MEBI + 32 * 2 * 16,
  },
  {
    what: 'short versions to remove',
    change: ['remove', 1n, Array<string>(2 ** 16).fill('')],
    room: 64,
    text: 64 * MEBI,
  },
] as const satisfies { what: string; change: Change; room: number; text: number }[]

for (const { what, change, room, text } of TOO_MUCH) {
  t.test(`when too much is waiting, ${what}, more is refused at once`, async (t) => {
    const disk = new Disk()
    const changes = groupCommit(disk, 1)
    const first = watch(changes.change(removal('first')))
    const one = await disk.begun(0)
    const waiting = Array.from({ length: room }, () => watch(changes.change(change)))
    const refused = watch(changes.change(removal('too much')))
    await settled()
    t.same(new Set(waiting.map(stateOf)), new Set(['waits']))
    const much = `${room} changes with ${text} characters are waiting`
    t.equal(stateOf(refused), `StoreUnavailable: the store is busy: ${much}`)
    one.end.resolve()
    const two = await disk.begun(1)
    t.equal(stateOf(first), 'first')
    const accepted = watch(changes.change(removal('last')))
    two.end.resolve()
    await disk.endAll(changes)
    t.same(new Set(waiting.map(stateOf)), new Set([change[0] === 'removeToken' ? 'x' : change[0]]))
    t.equal(stateOf(accepted), 'last', 'there is room when some of it is on its way')
    t.equal(disk.commits.flatMap((commit) => commit.changes).length, room + 2)
  })
}

t.test('a transaction has a bounded number of changes, and a bounded text', async (t) => {
  const disk = new Disk()
  const changes = groupCommit(disk, 1)
  const small = Array.from({ length: 1000 }, () => changes.change(removal('x')))
  const large = Array.from({ length: 20 }, () => changes.change(creation(LONG, 'x')))
  await disk.endAll(changes)
  await Promise.all([...small, ...large])
  // The rest of the small ones leaves room for others; the last may go beyond the bound.
  t.same(
    disk.commits.map((commit) => commit.changes.length),
    [512, 488 + 8, 8, 4],
  )
})

t.test('a change that is larger than all that may wait gets in, alone', async (t) => {
  const disk = new Disk()
  const changes = groupCommit(disk, 1)
  const huge = 'x'.repeat(65 * MEBI)
  const one = watch(changes.change(creation(huge)))
  const refused = watch(changes.change(creation('y')))
  await disk.begun(0)
  const two = watch(changes.change(creation('z')))
  await disk.endAll(changes)
  t.same([one, two].map(stateOf), ['create', 'create'])
  t.match(stateOf(refused), 'the store is busy: 1 changes with 68157440 characters are waiting')
})

t.test('what a failing store has failed does not wait any more', async (t) => {
  const disk = new Disk()
  const changes = groupCommit(disk, 1)
  const failed = [watch(changes.change(removal('a')))]
  const one = await disk.begun(0)
  for (let index = 0; index < 64; index++) failed.push(watch(changes.change(creation(LONG))))
  one.end.reject(new StoreUnavailable('failing', 'SQLITE_FULL'))
  await changes.settle()
  t.same(
    new Set(failed.map(stateOf)),
    new Set(['StoreUnavailable: the store is failing: SQLITE_FULL']),
  )
  t.equal(disk.commits.length, 1, 'all at once')
  const later = Array.from({ length: 64 }, () => watch(changes.change(creation(LONG))))
  await disk.endAll(changes)
  t.same(new Set(later.map(stateOf)), new Set(['create']))
})

t.test('nothing is waiting when nothing was asked for', async () => {
  await groupCommit(new Disk()).settle()
})

interface Watched {
  state: string
}

function groupCommit({ commit }: Disk, maxInFlight?: number): Changes {
  return new GroupCommit({ commit, sizeOf, ...(maxInFlight !== undefined && { maxInFlight }) })
}

function watch(result: Promise<unknown>): Watched {
  const watched = { state: 'waits' }
  result.then(
    (value) => {
      watched.state = String(value)
    },
    (error) => {
      watched.state = String(error)
    },
  )
  return watched
}

function stateOf({ state }: Watched): string {
  return state
}

function removal(name: string): Change {
  return ['removeToken', name]
}

function creation(name: string, tag?: string): Change {
  return ['create', tag === undefined ? { id: 1n, name } : { id: 1n, name, tag }]
}

function update(patch: PlantPatch, expected?: readonly string[]): Change {
  return ['update', 1n, patch, expected]
}

function imports(...names: string[]): Change {
  return ['importPlants', names.map((name) => ({ id: 1n, name })), 'keep']
}

/** Lets everything happen that can happen without the disk. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate)
}
