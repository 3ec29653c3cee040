/** The standbys that must have a change before it is acknowledged, with a real one. */

import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { StoreUnavailable } from '../../../../service/store/plant-store.ts'
import { checkDatabase } from '../../../../src/stores/postgres/postgres-check.ts'
import { changeRequiredStandbys } from '../../../../src/stores/postgres/postgres-database.ts'
import { PostgresStore } from '../../../../src/stores/postgres/postgres-store.ts'
import { StoreError } from '../../../../src/stores/shared/store-error.ts'
import { PostgresServer } from '../../../../tools/postgres/postgres-server.ts'
import { createAll } from '../../../helpers/plants/lists.ts'
import { createIn, removeFrom, updateIn } from '../../../helpers/plants/single-changes.ts'
import { readSetting, replaceSetting } from '../../../helpers/service/settings.ts'
import { modelSuite } from '../../model-suite.ts'
import { type Database, emptyDatabases, set } from '../databases.ts'

const timeout = 10_000

const primary = await PostgresServer.make(t)
const standby = await primary.copy(t, 'one')
await primary.start({ synchronous_standby_names: 'one' })
await standby.start(standby.follow(primary, 'one'))

let databases = 0
const database = emptyDatabases(primary, () => primary.database(`required_${++databases}`))

async function open(t: Test, { url }: Database, requireStandbys?: number) {
  const store = await PostgresStore.open({ url, timeout, requireStandbys })
  t.teardown(() => store.close())
  return store
}

const setNames = (names: string) => set(primary, 'synchronous_standby_names', names)

/** Resolves once a change succeeds. */
async function recovered(store: PostgresStore): Promise<void> {
  const isCreated = () =>
    createIn(store, { id: 99n, name: 'x' }).then(
      () => true,
      (error) => {
        if (error instanceof StoreUnavailable) return false
        throw error
      },
    )
  while (!(await isCreated())) await setTimeout(10)
}

/** What `check` says about acknowledgements. */
async function acknowledged({ url }: Database): Promise<string | undefined> {
  const results = await Array.fromAsync(checkDatabase({ url, timeout }))
  const found = results.find(({ subject }) => subject === 'acknowledged')
  return found && `${found.status} ${found.message}`
}

/** Suspends the standby's connection. Returns a function that resumes it. */
async function suspendStandby(): Promise<() => void> {
  const senders = await primary.query<{ pid: number }>('SELECT pid FROM pg_stat_replication')
  for (const { pid } of senders) process.kill(pid, 'SIGSTOP')
  return () => {
    for (const { pid } of senders) process.kill(pid, 'SIGCONT')
  }
}

/** Resolves once a number of commits wait for the standby. */
async function untilCommitsWait(count: number): Promise<void> {
  const waiting = `SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'`
  while ((await primary.query(waiting)).length < count);
}

t.test('every kind of change succeeds while the guarantee holds', async (t) => {
  const place = await database()
  const store = await open(t, place, 1)
  t.same(store.advise(), {
    warnings: [],
    acknowledgement: 'are acknowledged once they are on 1 standby',
  })
  t.equal(await replaceSetting(store, 'fields', undefined, 'a'), true)
  t.equal(await replaceSetting(store, 'fields', undefined, 'b'), false)
  await store.ping()
  modelSuite(t, { lasting: true, place: () => () => open(t, place) })
})

t.test(
  'changes are rejected while too few standbys confirm them, then succeed again',
  async (t) => {
    const place = await database()
    const store = await open(t, place, 1)
    t.equal(await createIn(store, { id: 1n, name: 'x' }), 'created')
    t.match(await acknowledged(place), /^ok on the server's disk and on standbys: one$/)
    t.teardown(() => setNames('one'))
    await setNames('')
    const notice = 'changes must be on 1 standby, but the server waits for 0'
    const detail = `${notice} (synchronous_standby_names = '', synchronous_commit = on)`
    const violated = new StoreUnavailable('failing', detail, notice)
    await t.rejects(createIn(store, { id: 2n, name: 'x' }), violated)
    await t.rejects(createAll(store, [{ id: 3n, name: 'x' }]), violated)
    await t.rejects(removeFrom(store, 1n), violated)
    await t.rejects(updateIn(store, 1n, { fields: '"height":1' }), violated)
    await t.rejects(replaceSetting(store, 'fields', undefined, 'a'), violated)
    await t.rejects(store.ping(), violated)
    t.same(await store.get(1n), { id: 1n, name: 'x' }, 'reads succeed')
    t.equal(await store.get(3n), undefined, 'later changes are not even attempted')
    t.equal(await readSetting(store, 'fields'), undefined)
    t.equal(await acknowledged(place), `fault ${violated.detail}`)
    const { warnings } = (await open(t, place)).advise()
    t.same(warnings, [`changes are rejected: ${violated.detail}`])
    await setNames('ANY 1 (one, two)')
    await recovered(store)
    await store.ping()
    t.same(await createAll(store, [{ id: 1n, name: 'x' }]), ['unchanged'])
  },
)

t.test('a commit that was released without the standby is not acknowledged', async (t) => {
  const store = await open(t, await database(), 1)
  const resume = await suspendStandby()
  t.teardown(() => setNames('one'))
  const refused = t.rejects(createIn(store, { id: 1n, name: 'x' }), {
    message: /but the server waits for 0 /,
  })
  await untilCommitsWait(1)
  await setNames('')
  await refused
  resume()
})

t.test('a commit during which the server was reconfigured is not acknowledged', async (t) => {
  const store = await open(t, await database(), 1)
  const resume = await suspendStandby()
  t.teardown(() => setNames('one'))
  const [plant, other] = [
    { id: 1n, name: 'x' },
    { id: 2n, name: 'x' },
  ]
  const message = 'the store is failing: the server was reconfigured during a commit'
  const refused = [createIn(store, plant), createAll(store, [other])].map(
    (change: Promise<unknown>) => t.rejects(change, { message }),
  )
  await untilCommitsWait(2)
  await setNames('one, two')
  resume()
  await Promise.all(refused)
  t.equal(await createIn(store, plant), 'unchanged', 'and can be repeated at once')
})

t.test('replicas that disagree do not start', async (t) => {
  const place = await database()
  const unprotected = await open(t, place)
  t.match(unprotected.advise(), {
    warnings: [/^acknowledged changes can be lost with the primary: set --require-standbys/],
    acknowledgement: 'can be lost with the primary after they are acknowledged',
  })
  const [first, second] = await Promise.all([open(t, place, 1), open(t, place, 1)])
  t.match(first.advise(), second.advise())
  await t.rejects(open(t, place, 2), {
    constructor: StoreError,
    message: `cannot use the database ${place.url}: it requires changes to be on 1 standby, but --require-standbys is 2: start all replicas with --require-standbys 1, or change the stored number with plant-store require-standbys 2`,
  })
  t.match((await open(t, place)).advise(), first.advise(), 'the stored number is the default')
  await unprotected.ping()
  t.match(unprotected.advise(), first.advise(), 'a running replica follows')
})

t.test('a changed number applies to running replicas', async (t) => {
  const place = await database()
  const store = await open(t, place, 1)
  await changeRequiredStandbys({ url: place.url, timeout }, 2)
  while (store.advise().warnings.length === 0) await setTimeout(10)
  const message = /: changes must be on 2 standbys, but the server waits for 1 /
  await t.rejects(createIn(store, { id: 1n, name: 'x' }), { message })
  await changeRequiredStandbys({ url: place.url, timeout }, 0)
  await recovered(store)
  t.equal(await createIn(store, { id: 1n, name: 'x' }), 'created')
  t.same(store.advise(), {
    warnings: [],
    acknowledgement: 'can be lost with the primary after they are acknowledged',
  })
  const empty = await database()
  await t.rejects(changeRequiredStandbys({ url: empty.url, timeout }, 1), {
    constructor: StoreError,
    message: `cannot use the database ${empty.url}: it is empty`,
  })
})

t.test('a replica keeps the number if the database has lost it', async (t) => {
  const place = await database()
  const store = await open(t, place, 1)
  await place.query('DELETE FROM plant_store_records')
  await store.ping()
  t.match(store.advise(), { acknowledgement: 'are acknowledged once they are on 1 standby' })
})

t.test('a violation outlasts a server that is unreachable, and a closed store', async (t) => {
  const place = await database()
  const store = await open(t, place, 1)
  t.teardown(() => setNames('one'))
  await setNames('')
  await t.rejects(store.ping(), { message: /waits for 0 / })
  await primary.stop()
  await setTimeout(300)
  await primary.start({ synchronous_standby_names: '' })
  await setNames('one')
  await recovered(store)
  await setNames('')
  const late = t.rejects(store.ping(), { message: /waits for 0 / })
  await store.close()
  await late
})
