/** Changes of single plants, each of which uses a connection. */

import pg from 'pg'
import t from 'tap'
import { StoreUnavailable } from '../../../service/store/plant-store.ts'
import { ConnectionShare } from '../../../src/stores/postgres/connection/connection-share.ts'
import { Deadline } from '../../../src/stores/postgres/connection/deadline.ts'
import { PostgresStore } from '../../../src/stores/postgres/postgres-store.ts'
import { createAll, removals } from '../../helpers/plants/lists.ts'
import { createIn, updateIn } from '../../helpers/plants/single-changes.ts'
import { sharedPostgres } from '../../helpers/service/shared-postgres.ts'
import { countWaiting, nameOf } from './sessions.ts'

const { server, migratedDatabase } = await sharedPostgres()

t.test('they leave connections to reads, creates and lists', async (t) => {
  const url = await migratedDatabase()
  const store = await PostgresStore.open({ url, timeout: 600_000 })
  t.teardown(() => store.close())
  await createAll(
    store,
    [1n, 2n].map((id) => ({ id, name: 'ours' })),
  )
  const other = new pg.Client({ connectionString: url })
  await other.connect()
  t.teardown(() => other.end())
  await other.query('BEGIN; SELECT id FROM plants WHERE id = 1 FOR UPDATE')
  const updates = Array.from({ length: 20 }, (_, index) => updateIn(store, 1n, { tag: `${index}` }))
  while ((await countWaiting(server, nameOf(url))) < 6);
  t.equal((await store.get(1n))?.name, 'ours')
  await store.ping()
  t.equal(await createIn(store, { id: 3n, name: 'theirs' }), 'created')
  t.strictSame(await store.apply(removals([2n]), 'all-or-none'), ['removed'])
  await other.query('COMMIT')
  t.ok((await Promise.all(updates)).every((plant) => typeof plant === 'object'))
})

t.test('they wait in order, and not longer than a call can take', async (t) => {
  const share = new ConnectionShare(1)
  const deadline = new Deadline(600_000)
  t.teardown(() => deadline.cancel())
  await share.enter(deadline)
  await t.rejects(
    share.enter(new Deadline(1)),
    new StoreUnavailable('busy', 'too many changes wait'),
  )
  const closing = new Deadline(600_000)
  const abandoned = share.enter(closing)
  closing.pass('the store is closing')
  closing.cancel()
  await t.rejects(abandoned, new StoreUnavailable('failing', 'the store is closing'))
  const entered: string[] = []
  const waiting = ['first', 'second'].map(async (name) => {
    await share.enter(deadline)
    entered.push(name)
    share.leave()
  })
  share.leave()
  await Promise.all(waiting)
  t.same(entered, ['first', 'second'])
  await share.enter(deadline)
})

t.test('one whose time ends just as it may begin gives way to the next', async (t) => {
  const share = new ConnectionShare(1)
  const deadline = new Deadline(600_000)
  t.teardown(() => deadline.cancel())
  await share.enter(deadline)
  const late = new Deadline(600_000)
  const refused = share.enter(late)
  const next = share.enter(deadline)
  late.pass('the store is closing')
  late.cancel()
  share.leave()
  await t.rejects(refused, StoreUnavailable)
  await next
})
