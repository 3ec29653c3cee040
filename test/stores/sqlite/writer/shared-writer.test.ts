/** Several threads share one writer. Here its clients are in one thread; the writer cannot tell. */
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import t, { type Test } from 'tap'
import { StoreUnavailable } from '../../../../service/store/plant-store.ts'
import { sumSizes } from '../../../../src/stores/shared/group-commit.ts'
import { measureCall, type WriteCall } from '../../../../src/stores/sqlite/writer/write-call.ts'
import { WriterClient, WriterHost } from '../../../../src/stores/sqlite/writer/writer-client.ts'
import { inMemory, makeFolder } from '../../../../tools/tap/temporary-folders.ts'
import { commitsIn } from '../files.ts'

const LOCK_TIMEOUT_MS = 30_000

const creation = (id: number, name = 'x'): WriteCall => ({
  type: 'create',
  id: BigInt(id),
  name,
})

/** Fails, because SQLite cannot bind the name. */
const DEFECT = { type: 'create', id: 100n, name: {} } as unknown as WriteCall

const file = join(makeFolder(t, inMemory()), 'plants.db')
const owner = new WriterHost({ file, lockTimeout: LOCK_TIMEOUT_MS })
let holder: Sqlite.Database | undefined
t.teardown(async () => {
  holder?.close()
  await owner.close()
})

function commit(client: WriterClient, changes: readonly WriteCall[]) {
  return client.commit(changes, sumSizes(changes.map(measureCall)))
}

/** New clients of the writer, and an empty database, which can be locked. */
async function connect(t: Test, count: number, lockTimeout = LOCK_TIMEOUT_MS) {
  const clients = Array.from(
    { length: count },
    () => new WriterClient(owner.connect(), lockTimeout),
  )
  t.teardown(() => {
    for (const client of clients) client.close()
  })
  const [first] = clients as [WriterClient]
  await commit(first, [creation(0)])
  holder ??= new Sqlite(file)
  const db = holder
  db.exec('DELETE FROM plants')
  db.pragma('wal_checkpoint(TRUNCATE)')
  await commit(first, [creation(0)])

  /** Locks the database, and resolves once the writer waits to make a change. */
  const hold = async () => {
    db.exec('BEGIN IMMEDIATE')
    const attempts = owner.commits.value
    const waiting = commit(first, [creation(1)])
    waiting.catch(() => {})
    while (owner.commits.value === attempts) await setImmediate()
    return { waiting }
  }
  return { clients, hold, release: () => db.exec('ROLLBACK') }
}

t.test('a request of each client shares a commit', async (t) => {
  const { clients, hold, release } = await connect(t, 4)
  const before = commitsIn(file)
  const { waiting } = await hold()
  const later = [2, 3].flatMap((round) =>
    clients.map((client, index) => commit(client, [creation(10 * round + index)])),
  )
  release()
  t.same(await Promise.all([waiting, ...later]), Array(9).fill(['created']))
  t.equal(commitsIn(file) - before, 3)
})

/** Requests that fill a commit together with at most one other. */
const LARGE = [
  { what: 'many changes', clientCount: 4, count: 300, name: 'x' },
  { what: 'much text', clientCount: 2, count: 2, name: 'x'.repeat(2 ** 22) },
]

for (const { what, clientCount, count, name } of LARGE) {
  t.test(`requests with ${what} share no commit that is too large`, async (t) => {
    const { clients, hold, release } = await connect(t, clientCount)
    const before = commitsIn(file)
    const { waiting } = await hold()
    const later = clients.map((client, index) =>
      commit(
        client,
        Array.from({ length: count }, (_, id) => creation(1000 * (index + 1) + id, name)),
      ),
    )
    release()
    await Promise.all([waiting, ...later])
    t.equal(commitsIn(file) - before, 3)
  })
}

t.test('a transaction takes few large plants, and then no more lists of them', async (t) => {
  const { clients } = await connect(t, 1)
  const [client] = clients as [WriterClient]
  const remove = (id: number) => ({ type: 'remove', id: BigInt(id) }) as const
  const list = (id: number): WriteCall => ({ type: 'apply', changes: [remove(id)], mode: 'each' })
  const large = 'x'.repeat(2 ** 20)
  for (let id = 1; id < 7; id++) await commit(client, [creation(id, large)])
  const others = [creation(6), creation(9), creation(10, large), list(9)]
  t.same(await commit(client, [...[1, 2, 3, 4, 5].map(remove), ...others]), [
    ...['removed', 'removed', 'postponed', 'postponed', 'postponed'],
    ...['postponed', 'created', 'postponed', ['removed']],
  ])
  t.same(await commit(client, [remove(5)]), ['removed'])

  const ids = Array.from({ length: 131 }, (_, index) => 100 + index)
  const creations = ids.map((id) => creation(id, 'x'.repeat(2 ** 16)))
  for (const part of [creations.slice(0, 65), creations.slice(65)]) await commit(client, part)
  const singles = ids.slice(0, 130).map(remove)
  t.same(await commit(client, [...singles, creation(9), list(9), list(230)]), [
    ...Array(128).fill('removed'),
    ...['postponed', 'postponed', 'created', ['removed'], 'postponed'],
  ])
})

t.test(
  'a change that shares a commit with the begin of a restriction is made before it',
  async (t) => {
    const { clients } = await connect(t, 1)
    const [client] = clients as [WriterClient]
    const restricting = (
      restricts: 'begin' | 'end',
      next: string,
      expected?: string,
    ): WriteCall => ({
      type: 'apply',
      changes: [],
      mode: {
        record: { kind: 'restriction', key: 'restriction', expected, next },
        textMax: 0,
        restricts,
        mustBeEmpty: false,
        renewsFeed: false,
        effect: undefined,
      },
    })
    t.same(await commit(client, [restricting('begin', '"frozen"'), creation(5)]), [[], 'created'])
    t.same(await commit(client, [creation(6), creation(5)]), [
      { refusedBy: 'frozen' },
      { refusedBy: 'frozen' },
    ])
    t.same(await commit(client, [restricting('end', '"ended"', '"frozen"')]), [[]])
    t.equal(holder?.prepare('SELECT count(*) FROM plants').pluck().get(), 2)
  },
)

t.test('each client gets its own results, in order', async (t) => {
  const { clients, hold, release } = await connect(t, 3)
  await Promise.all(
    clients.map((client, index) => commit(client, [creation(10 + index, `${index}`)])),
  )
  const ended: number[][] = clients.map(() => [])
  const { waiting } = await hold()
  const sent = clients.flatMap((client, index) =>
    Array.from({ length: 10 }, async (_, number) => {
      const name = `${index} ${number}`
      const id = BigInt(10 + index)
      const changes: WriteCall[] = [
        { type: 'update', id, patch: { name } },
        { type: 'create', id, name },
        { type: 'create', id, name: 'other' },
      ]
      // The clients send different numbers of changes.
      const results = await commit(client, changes.slice(0, index + 1))
      ended[index]?.push(number)
      t.same(results, [{ id, name }, 'unchanged', 'plant-exists'].slice(0, index + 1))
    }),
  )
  release()
  await Promise.all([waiting, ...sent])
  t.same(ended, Array(3).fill([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]))
})

t.test('a defect in a change of one client does not fail the others', async (t) => {
  const { clients, hold, release } = await connect(t, 3)
  const { waiting } = await hold()
  const [one, two, three] = clients as [WriterClient, WriterClient, WriterClient]
  const results = Promise.allSettled([
    commit(one, [creation(10)]),
    commit(two, [creation(20), DEFECT]),
    commit(three, [creation(30)]),
  ])
  release()
  await waiting
  t.match(await results, [
    { value: ['created'] },
    { status: 'rejected', reason: { name: 'RangeError' } },
    { value: ['created'] },
  ])
  t.same(await commit(two, [creation(20)]), ['created'], 'none of its changes was made')
})

t.test('while the database is locked, the changes of all clients fail', async (t) => {
  const { clients, hold, release } = await connect(t, 3, 1)
  const { waiting } = await hold()
  const results = await Promise.allSettled([
    waiting,
    ...clients.map((client) => commit(client, [creation(10)])),
  ])
  for (const result of results) {
    t.ok(result.status === 'rejected' && result.reason instanceof StoreUnavailable)
    t.match(result, { reason: { reason: 'busy' } })
  }
  release()
  for (const client of clients) t.match(await commit(client, [creation(20)]), [/created|unchanged/])
})

t.test('a client that leaves does not stop the others', async (t) => {
  const { clients } = await connect(t, 3)
  const [one, two, three] = clients as [WriterClient, WriterClient, WriterClient]
  two.close()
  t.same(await commit(one, [creation(10)]), ['created'])
  t.same(await commit(three, [creation(30)]), ['created'])
})
