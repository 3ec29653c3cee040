import t from 'tap'
import { StoreUnavailable } from '../../../service/plant-store.ts'
import { GroupCommit } from '../../../src/stores/sqlite/group-commit.ts'
import type { Change, ChangeResult } from '../../../src/stores/sqlite/writer.ts'

/** A disk whose every commit waits until the test ends it. */
class Disk {
  readonly commits: { changes: readonly Change[]; end: PromiseWithResolvers<void> }[] = []
  #started = Promise.withResolvers<void>()

  commit = async (changes: readonly Change[]): Promise<ChangeResult[]> => {
    const end = Promise.withResolvers<void>()
    this.commits.push({ changes, end })
    this.#started.resolve()
    await end.promise
    return changes.map(([, name]) => name as ChangeResult)
  }

  /** Resolves to the commit of that number, from 0, when it has begun. */
  async begun(number: number) {
    while (this.commits.length <= number) {
      await this.#started.promise
      this.#started = Promise.withResolvers()
    }
    return this.commits[number] as (typeof this.commits)[number]
  }
}

t.test(
  'what arrives in one turn is committed together, in order, and answered after it',
  async (t) => {
    const disk = new Disk()
    const changes = new GroupCommit(disk.commit)
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
  const changes = new GroupCommit(disk.commit)
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

t.test('a commit that fails fails its own changes; the next ones work', async (t) => {
  const disk = new Disk()
  const changes = new GroupCommit(disk.commit)
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
    const changes = new GroupCommit(disk.commit)
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

t.test('when too much is waiting more is refused at once, until there is room', async (t) => {
  const disk = new Disk()
  const changes = new GroupCommit(disk.commit)
  const first = watch(changes.change(removal('first')))
  const one = await disk.begun(0)
  const waiting = Array.from({ length: 10_000 }, () => watch(changes.change(removal('x'))))
  const refused = watch(changes.change(removal('too much')))
  await settled()
  t.equal(stateOf(refused), 'StoreUnavailable: the store is busy: 10000 changes are waiting')
  one.end.resolve()
  const two = await disk.begun(1)
  t.equal(stateOf(first), 'first')
  const accepted = watch(changes.change(removal('last')))
  two.end.resolve()
  for (let number = 2; number <= 20; number++) (await disk.begun(number)).end.resolve()
  await changes.settle()
  t.same([...new Set(waiting.map(stateOf))], ['x'])
  t.equal(stateOf(accepted), 'last')
  t.ok(disk.commits.every((commit) => commit.changes.length <= 512))
})

t.test('nothing is waiting when nothing was asked for', async () => {
  await new GroupCommit(new Disk().commit).settle()
})

interface Watched {
  state: string
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

/** Lets everything happen that can happen without the disk. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate)
}
