import { randomInt } from 'node:crypto'
import { until } from '../helpers/processes/until.ts'
import type { Cluster } from './cluster.ts'
import type { PatroniNode } from './node.ts'
import type { Replica } from './replica.ts'

export interface Fault {
  readonly name: string
  /** Whether it has no effect on replicas that do not use HAProxy. */
  readonly isOfHaproxy?: boolean
  /**
   * Does the damage and repairs it.
   *
   * @param resumed resolves once changes that were sent after the call were acknowledged
   */
  readonly cause: (cluster: Cluster, resumed: () => Promise<void>) => Promise<void>
}

export const FAULTS: readonly Fault[] = [
  kill('the primary', (cluster) => cluster.primary()),
  {
    name: 'freeze the primary',
    async cause(cluster, resumed) {
      const primary = await cluster.primary()
      primary.freeze()
      // Another node has the lease by then.
      await resumed()
      primary.thaw()
    },
  },
  {
    name: 'cut the primary off from etcd',
    async cause(cluster, resumed) {
      const primary = await cluster.primary()
      primary.leaveEtcd()
      await until('another node is the primary', async () => (await cluster.primary()) !== primary)
      await resumed()
      await primary.rejoinEtcd()
    },
  },
  kill('the synchronous standby', (cluster) => cluster.synchronousStandby()),
  {
    name: 'switch over',
    async cause(cluster, resumed) {
      const primary = await cluster.primary()
      await primary.change('POST', '/switchover', { leader: primary.host })
      await resumed()
    },
  },
  {
    name: 'lose and regain the quorum of etcd',
    async cause(cluster, resumed) {
      const primary = await cluster.primary()
      const members = cluster.etcd.members.slice(1)
      for (const member of members) await member.kill()
      await until('the primary has stepped down', async () => !(await primary.isPrimary()))
      for (const member of members) member.start()
      await resumed()
    },
  },
  {
    name: 'kill HAProxy',
    isOfHaproxy: true,
    async cause(cluster, resumed) {
      await cluster.haproxy.kill()
      const [replica] = cluster.replicas
      await until('a replica has noticed', async () => !(await replica?.isReady()))
      cluster.haproxy.start()
      await resumed()
    },
  },
  kill(
    'a replica of the service',
    async ({ replicas }) => replicas[randomInt(replicas.length)] as Replica,
  ),
]

/** Kills a node or a replica, and starts it again once changes are acknowledged without it. */
function kill(what: string, find: (cluster: Cluster) => Promise<PatroniNode | Replica>): Fault {
  return {
    name: `kill ${what}`,
    async cause(cluster, resumed) {
      const victim = await find(cluster)
      await victim.kill()
      await resumed()
      victim.start()
    },
  }
}
