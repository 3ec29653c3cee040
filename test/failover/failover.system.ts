/** Kills the primary at a random moment: once, or many times with `npm run test:failover`. */

import { randomInt } from 'node:crypto'
import t, { type Test } from 'tap'
import {
  type CreateResult,
  type NewPlant,
  type StoredPlant,
  StoreUnavailable,
} from '../../service/plant-store.ts'
import { PostgresStore } from '../../src/stores/postgres/postgres-store.ts'
import { type PlantRow, toPlant } from '../../src/stores/shared/rows.ts'
import { Command } from '../helpers/command.ts'
import { createAll } from '../helpers/lists.ts'
import { type Kind, Load } from '../load/load.ts'
import { TOKEN } from '../load/requests.ts'
import { replay } from '../stores/changes.ts'
import { byId } from '../stores/plants.ts'
import { Follower } from '../stores/postgres/follower.ts'
import { Cluster, cancelWaits, refusedWhenCancelled, until } from './cluster.ts'

/** Number of kills, each with and without synchronous replication. */
const rounds = Number(process.argv[2] ?? 1)

/** The most plants that are acknowledged before a standby falls behind, and from then until the kill. */
const PLANTS_MAX = rounds > 1 ? 5000 : 500

/** Timeout of a connection or a statement, in milliseconds. */
const TIMEOUT_MS = 5000

/** The timeout of calls that must fail, because they wait for the standbys. */
const IMPATIENCE_MS = 3000

/** The timeout of calls that fail because their wait for the standbys is cancelled. */
const PATIENCE_MS = 20_000

/** Limit for a response: a connection and a statement, on a busy machine. */
const RESPONSE_MS_MAX = 2 * TIMEOUT_MS + 4000

for (let round = 1; round <= rounds; round++) {
  t.test(
    `failover of a primary with two synchronous standbys, ${round} of ${rounds}`,
    async (t) => {
      const cluster = await Cluster.start(t)

      await t.test('a replay is not acknowledged before a standby has the plant', (t) =>
        testReplays(t, cluster),
      )

      await t.test('nor is a repeated removal before a standby has removed it', (t) =>
        testRepeatedRemoval(t, cluster),
      )

      const url = await startService(t, cluster)

      await t.test('the standby that takes over has all acknowledged plants', async (t) => {
        const follower = await Follower.start(cluster.url, TIMEOUT_MS)
        const { stored, lost, wrong, statuses } = await failOver(t, cluster, url)
        t.same(wrong, [], 'and nothing else')
        t.same(lost, [])
        t.notMatch(Object.keys(statuses).join(), 'none', 'the service has answered each request')
        await follower.end()
        t.same(replay(follower.changes), byId(stored), 'a follower has seen each change once')
      })

      await t.test('without synchronous replication, the same test detects a loss', async (t) => {
        await cluster.disableSynchronousReplication()
        // Changing or replaying a lost plant would restore it.
        const { lost } = await failOver(t, cluster, url, ['create'])
        t.ok(lost.length > 0)
      })
    },
  )
}

async function startService(t: Test, { url }: Cluster): Promise<string> {
  const args = ['--port', '0', '--database', url, '--lock-timeout', `${TIMEOUT_MS}ms`]
  const env = { PLANT_STORE_TOKEN: TOKEN }
  return new Command(t, args, { env }).listening()
}

/** Kills the primary under load. Resolves once a standby has taken over. */
async function failOver(t: Test, cluster: Cluster, url: string, kinds?: readonly Kind[]) {
  await cluster.waitForStandbys()
  const load = new Load([url], kinds && { kinds })
  await load.creates(randomInt(100, PLANTS_MAX))
  await cluster.suspendLastStandby()
  await load.creates(randomInt(100, PLANTS_MAX))
  await cluster.primary.crash()
  await Promise.all([load.creates(1), cluster.promote()])
  await load.end()

  const stored = await storedIn(cluster)
  const {
    history,
    requests: { statuses, slowest, undocumented },
    longestGap: [begin, end],
  } = load
  const { lost, duplicated } = history.compare(stored)
  t.comment({
    ...{ acknowledged: history.acknowledged, lost: lost.length, statuses },
    ...{ gap: Math.round(end - begin), slowest: Math.round(slowest) },
  })
  t.ok(slowest <= RESPONSE_MS_MAX, 'each request was answered in time')
  return { stored, lost, wrong: [...undocumented, ...duplicated], statuses }
}

async function storedIn({ primary }: Cluster): Promise<StoredPlant[]> {
  const rows = await primary.query<PlantRow>('SELECT id, name, tag FROM plants')
  return rows.map((row) => toPlant({ ...row, id: BigInt(row.id) }))
}

async function testReplays(t: Test, { primary, standbys }: Cluster): Promise<void> {
  const url = await primary.database('replays')
  const store = await PostgresStore.open({ url, timeout: PATIENCE_MS })
  const impatient = await PostgresStore.open({ url, timeout: IMPATIENCE_MS })
  t.teardown(() => Promise.all([store.close(), impatient.close()]))
  const [fir, pine] = [
    { id: 1n, name: 'Abies alba Mill.' },
    { id: 2n, name: 'Pinus nigra J.F. Arnold' },
  ]
  const refused = async (plant: NewPlant) => {
    for (const isBatch of [false, true]) {
      const begin = performance.now()
      const result: Promise<unknown> = isBatch
        ? createAll(impatient, [plant])
        : impatient.create(plant)
      await t.rejects(result, StoreUnavailable)
      t.ok(performance.now() - begin <= RESPONSE_MS_MAX)
    }
  }

  for (const { server } of standbys) server.freeze()
  await refused(fir)
  await refused(fir)
  await cancelWaits(primary)
  await until(async () => (await primary.query('SELECT id FROM plants', 'replays')).length > 0)
  await refused(fir)
  for (const plant of [fir, pine, pine]) {
    await refusedWhenCancelled(t, primary, () => store.create(plant))
  }

  for (const { server } of standbys) server.thaw()
  for (const plant of [fir, pine]) {
    let result: CreateResult | undefined
    // The stores may have to reconnect first.
    await until(async () => {
      result = await store.create(plant).catch(() => undefined)
      return result !== undefined
    })
    t.equal(result, 'replayed')
  }
  t.strictSame(await createAll(store, [fir, pine]), ['replayed', 'replayed'])
}

async function testRepeatedRemoval(t: Test, { primary, standbys }: Cluster): Promise<void> {
  const url = await primary.database('removals')
  const store = await PostgresStore.open({ url, timeout: PATIENCE_MS })
  t.teardown(() => store.close())
  await store.create({ id: 1n, name: 'Abies alba Mill.' })
  for (const { server } of standbys) server.freeze()
  for (const attempt of ['the removal', 'its repetition']) {
    await refusedWhenCancelled(t, primary, () => store.remove(1n), attempt)
  }
  t.same(await primary.query('SELECT id FROM plants', 'removals'), [])
  for (const { server } of standbys) server.thaw()
  let result: string | undefined
  await until(async () => {
    result = await store.remove(1n).catch(() => undefined)
    return result !== undefined
  })
  t.equal(result, 'not-found')
}
