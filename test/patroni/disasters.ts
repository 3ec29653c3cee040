import type { Disaster } from '../consistency/disasters/disaster.ts'
import { settle } from '../consistency/disasters/postgres/replica.ts'
import type { History } from '../consistency/history.ts'
import { until } from '../helpers/processes/until.ts'
import { Cluster } from './cluster.ts'
import type { Fault } from './faults.ts'
import { isAcknowledged, measureOutage, type Outage } from './outage.ts'
import { makePlace, type PlaceOptions } from './place.ts'

/** Changes that have to be acknowledged before a cluster has recovered. */
const CHANGES_AFTER = 100

/** Changes that no standby has when the primary is killed. More would keep Patroni from promoting one of them. */
const CHANGES_UNREPLICATED = 100

export interface PatroniOptions extends PlaceOptions {
  /** Receives what each fault did to the clients. */
  readonly report: (outage: Outage) => void
}

/** Each fault, one after the other, of a cluster that Patroni manages. */
export function patroni(faults: readonly Fault[], options: PatroniOptions): Disaster {
  return {
    name: 'patroni',
    start: async ({ owner, history }) => {
      const cluster = await Cluster.start(owner, await makePlace(owner, options))
      const rest = [...faults]
      const harm = async () => {
        const fault = rest.shift()
        if (fault !== undefined) options.report(await cause(fault, cluster, history))
      }
      return { urls: () => cluster.replicas.map(({ url }) => url), harm }
    },
  }
}

/** A fault without synchronous mode, while the standbys lag: acknowledged changes are lost. */
export function asynchronousPatroni(fault: Fault, options: PatroniOptions): Disaster {
  return {
    name: 'patroni without synchronous mode',
    start: async ({ owner, history }) => {
      const cluster = await Cluster.start(owner, await makePlace(owner, options))
      await cluster.disableSynchronousMode()
      const harm = async () => {
        await cluster.suspendReplication()
        await changes(history, CHANGES_UNREPLICATED)
        options.report(await cause(fault, cluster, history))
      }
      return { urls: () => cluster.replicas.map(({ url }) => url), harm }
    },
  }
}

/** Resolves once the cluster is as it was before. */
async function cause(fault: Fault, cluster: Cluster, history: History): Promise<Outage> {
  const { etcd } = cluster
  return measureOutage(fault.name, { etcd, calls: history.calls }, async () => {
    await fault.cause(cluster, () => changes(history, CHANGES_AFTER))
    await cluster.healthy()
    await settle(history, cluster)
  })
}

/** Resolves once this many changes were acknowledged that clients sent after the call. */
async function changes({ calls }: History, number: number): Promise<void> {
  const [first, from] = [calls.length, performance.now()]
  await until(`${number} changes were acknowledged`, () => {
    const later = calls.slice(first).filter(({ called }) => called > from)
    return later.filter(isAcknowledged).length >= number
  })
}
