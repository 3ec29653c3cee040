/** The feed after a failover or a restore. A change that no standby has must not appear, because it may be lost. */

import t from 'tap'
import { PostgresStore } from '../../src/stores/postgres/postgres-store.ts'
import { PostgresServer, urlOf } from '../../tools/postgres/postgres-server.ts'
import { createAll } from '../helpers/plants/lists.ts'
import { createIn, removeFrom } from '../helpers/plants/single-changes.ts'
import { until } from '../helpers/processes/until.ts'
import { changesAfter, contentOf, latest, pageOf, replay } from '../stores/feed-reads.ts'
import { exported } from '../stores/plants.ts'
import { Cluster, refusedWhenCancelled } from './cluster.ts'

/** The timeout of calls that must succeed on a busy machine. */
const PATIENCE_MS = 20_000

/** The timeout of a call that must fail, because it waits for the standbys. */
const IMPATIENCE_MS = 1500

t.test('a change appears only once a standby has it', async (t) => {
  const cluster = await Cluster.start(t)
  const { primary, standbys } = cluster
  await primary.database('feed')
  const servers = [primary, ...standbys.map(({ server }) => server)]
  const open = async (url = urlOf(servers, 'feed'), timeout = PATIENCE_MS) => {
    const store = await PostgresStore.open({ url, timeout })
    t.teardown(() => store.close())
    return store
  }
  const refuses = (work: () => Promise<unknown>) => refusedWhenCancelled(t, primary, work)
  const [writer, follower, late] = [await open(), await open(), await open()]
  const impatient = await open(primary.url('feed'), IMPATIENCE_MS)
  await createIn(writer, { id: 1n, name: 'kept' })
  const start = await latest(follower)
  await latest(late)

  for (const { name } of standbys) await primary.suspendReplication(name)
  await refuses(() => createIn(writer, { id: 2n, name: 'lost' }))
  t.match(await primary.query('SELECT id FROM plants', 'feed'), [{ id: '1' }, { id: '2' }])

  // The one that adds it to the ledger, then others that find it there.
  await refuses(() => follower.readChanges({ after: start, limit: 10 }))
  t.equal((await primary.query('SELECT FROM plant_commits', 'feed')).length, 3)
  for (const store of [follower, late]) {
    for (const after of [start, undefined, 'latest']) {
      await refuses(() => store.readChanges({ after, limit: 10 }))
    }
  }
  await t.rejects(impatient.readChanges({ after: start, limit: 10 }), { name: 'StoreUnavailable' })

  await primary.crash()
  await cluster.promote()
  await until('the feed can be read', async () => {
    const page = await follower.readChanges({ after: start, limit: 10 }).catch(() => undefined)
    return page !== undefined
  })
  t.same(await pageOf(follower, start), { changes: [], next: start })
  await until('the plant is acknowledged', async () => {
    const result = await createIn(writer, { id: 2n, name: 'again' }).catch(() => undefined)
    return result !== undefined
  })
  t.same((await changesAfter(follower, start)).map(contentOf), [['created', 2n, { name: 'again' }]])
  t.same(replay(await changesAfter(follower)), await exported(writer))
})

t.test('cursors and a restored physical backup', async (t) => {
  const original = await PostgresServer.make(t)
  await original.start()
  const before = await PostgresStore.open({ url: original.url(), timeout: 60_000 })
  await createIn(before, { id: 1n, name: 'kept' })
  const start = await latest(before)
  await before.close()
  await original.stop()
  const backup = await original.copy(t, 'backup')
  await original.start()
  const after = await PostgresStore.open({ url: original.url(), timeout: 60_000 })
  await createAll(
    after,
    [2n, 3n].map((id) => ({ id, name: 'lost' })),
  )
  await removeFrom(after, 1n)
  const lost = (await changesAfter(after, start)).map(({ cursor }) => cursor)
  t.equal(lost.length, 3)
  await after.close()
  await original.stop()

  await backup.start()
  const restored = await PostgresStore.open({
    url: backup.url(),
    timeout: 60_000,
    retention: { age: 3_600_000, bytes: 2 ** 30 },
  })
  t.teardown(() => restored.close())
  const areExpired = async () => {
    for (const after of lost) {
      t.equal(await restored.readChanges({ after, limit: 1 }), 'expired')
    }
  }
  await areExpired()
  t.same(await pageOf(restored, start), { changes: [], next: start })
  await createAll(
    restored,
    [2n, 3n].map((id) => ({ id, name: 'again' })),
  )
  await removeFrom(restored, 3n)
  await areExpired()
  t.equal((await changesAfter(restored, start)).length, 3)
  t.same(replay(await changesAfter(restored)), await exported(restored))
})
