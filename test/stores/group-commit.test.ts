import t from 'tap'
import { StoreUnavailable } from '../../service/plant-store.ts'
import { Disk, groupCommit, removal, settled, stateOf, watch } from './disk.ts'

t.test(
  'changes of one turn of the event loop share a commit, in order, and resolve after it',
  async (t) => {
    const disk = new Disk()
    const changes = groupCommit(disk)
    const watched = ['a', 'b', 'c'].map((name) => watch(changes.submit(removal(name))))
    const { changes: batch, end } = await disk.begun(0)
    t.same(batch, ['a', 'b', 'c'].map(removal))
    await settled()
    t.same(watched.map(stateOf), ['waiting', 'waiting', 'waiting'])
    end.resolve()
    await changes.settle()
    t.same(watched.map(stateOf), ['a', 'b', 'c'])
  },
)

t.test('changes that arrive during a commit share the next one', async (t) => {
  const disk = new Disk()
  const changes = groupCommit(disk)
  const first = watch(changes.submit(removal('first')))
  const one = await disk.begun(0)
  const later = ['a', 'b'].map((name) => watch(changes.submit(removal(name))))
  await settled()
  t.equal(disk.commits.length, 1, 'one commit at a time')
  one.end.resolve()
  const two = await disk.begun(1)
  t.same(two.changes, ['a', 'b'].map(removal))
  await settled()
  t.same([first, ...later].map(stateOf), ['first', 'waiting', 'waiting'])
  two.end.resolve()
  await changes.settle()
  t.same(later.map(stateOf), ['a', 'b'])
})

t.test('a failed commit also rejects changes that arrived since', async (t) => {
  const disk = new Disk()
  const changes = groupCommit(disk)
  const first = watch(changes.submit(removal('a')))
  const one = await disk.begun(0)
  const waiting = watch(changes.submit(removal('b')))
  one.end.reject(new StoreUnavailable('failing', 'SQLITE_FULL'))
  await changes.settle()
  const failed = 'StoreUnavailable: the store is failing: SQLITE_FULL'
  t.same([first, waiting].map(stateOf), [failed, failed])
})

t.test('a bug in a commit rejects only its own changes', async (t) => {
  const disk = new Disk()
  const changes = groupCommit(disk)
  const failed = ['a', 'b'].map((name) => watch(changes.submit(removal(name))))
  const one = await disk.begun(0)
  const waiting = watch(changes.submit(removal('c')))
  one.end.reject(new Error('a bug'))
  const two = await disk.begun(1)
  t.same([...failed, waiting].map(stateOf), ['Error: a bug', 'Error: a bug', 'waiting'])
  two.end.resolve()
  await changes.settle()
  t.equal(stateOf(waiting), 'c')
})

t.test('settle resolves at once without changes', async () => {
  await groupCommit(new Disk()).settle()
})
