import { Cluster } from '../../../failover/cluster.ts'
import type { Place } from '../../services/target.ts'
import type { Disaster } from '../disaster.ts'
import { startReplicas } from './replica.ts'

const TIMEOUT = '--lock-timeout=5s'

/** The primary of three PostgreSQL servers is killed, and a standby that has every acknowledged change takes over. */
export const failover: Disaster = {
  name: 'failover',
  start: (place) => startFailover(place, true),
}

/** The same without synchronous replication: acknowledged changes are lost. */
export const asynchronousFailover: Disaster = {
  name: 'failover without synchronous replication',
  start: (place) => startFailover(place, false),
}

async function startFailover({ owner, random, history }: Place, isSynchronous: boolean) {
  const cluster = await Cluster.start(owner)
  if (!isSynchronous) await cluster.disableSynchronousReplication()
  const replicas = await startReplicas(owner, cluster.url, {
    count: 2,
    args: [TIMEOUT, `--require-standbys=${isSynchronous ? 1 : 0}`],
  })
  // One standby lags, so the other one must be promoted.
  const delay = async () => {
    const lagging = isSynchronous ? [random.pick(cluster.standbys)] : cluster.standbys
    for (const { name } of lagging) await cluster.primary.suspendReplication(name)
  }
  await delay()
  const harm = async () => {
    const { primary } = cluster
    await primary.crash()
    history.settled()
    const name = await cluster.promote()
    for (const replica of replicas) await replica.ready()
    await cluster.rejoin(primary, name)
    await delay()
  }
  return { urls: () => replicas.map(({ url }) => url), harm }
}
