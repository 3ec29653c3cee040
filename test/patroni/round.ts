import { randomInt } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { type Kind, Load } from '../load/load.ts'
import type { Cluster } from './cluster.ts'
import type { Etcd } from './etcd.ts'
import type { Fault } from './faults.ts'

/** Creates that are acknowledged before a fault: at least and at most. */
const CREATES = [100, 1000] as const

/** Creates that have to be acknowledged before a cluster has recovered. */
const CREATES_AFTER = 100

/** Creates that no standby has when the primary of the control is killed. */
const CREATES_UNREPLICATED = 500

/** The longest pause of a client between two requests, in milliseconds. It leaves the servers time to replicate. */
const PAUSE_MS_MAX = 40

/** Delay between two looks at Patroni's lease, in milliseconds. */
const POLL_MS = 100

const KINDS: readonly Kind[] = [
  'create',
  'create',
  'create',
  'replay',
  'replay',
  'update',
  'removal',
  'contest',
]

export interface Figures {
  readonly acknowledged: number
  readonly lost: readonly string[]
  readonly duplicated: readonly string[]
  readonly undocumented: readonly string[]
  /** The longest time between two acknowledged creates, in milliseconds. */
  readonly gap: number
  /** How much of that passed before Patroni's lease changed hands, in milliseconds; undefined if it did not. */
  readonly lease: number | undefined
  /** Time of the slowest response, in milliseconds. */
  readonly slowest: number
  readonly statuses: Readonly<Record<string, number>>
}

/** Causes a fault under load, waits until everything works again, and compares what was acknowledged and stored. */
export async function runRound(cluster: Cluster, fault: Fault): Promise<Figures> {
  const load = startLoad(cluster)
  await load.creates(randomInt(...CREATES))
  return measure(cluster, load, fault)
}

/** The same without synchronous mode, while the standbys lag: acknowledged changes are lost. */
export async function runControl(cluster: Cluster, fault: Fault): Promise<Figures> {
  await cluster.disableSynchronousMode()
  // Changing or replaying a lost plant would restore it.
  const load = startLoad(cluster, ['create'])
  await load.creates(randomInt(...CREATES))
  await cluster.suspendReplication()
  await load.creates(CREATES_UNREPLICATED)
  return measure(cluster, load, fault)
}

function startLoad({ replicas }: Cluster, kinds: readonly Kind[] = KINDS): Load {
  const urls = replicas.map(({ url }) => url)
  return new Load(urls, { kinds, pauseMsMax: PAUSE_MS_MAX })
}

async function measure(cluster: Cluster, load: Load, fault: Fault): Promise<Figures> {
  const watch = new AbortController()
  const changing = watchLease(cluster.etcd, await cluster.etcd.leader(), watch.signal)
  await fault.cause(cluster, () => load.creates(CREATES_AFTER))
  await cluster.healthy()
  await load.end()
  watch.abort()
  const changed = await changing
  const {
    history,
    requests,
    longestGap: [begin, end],
  } = load
  const figures = {
    ...history.compare(await cluster.plants()),
    ...{ acknowledged: history.acknowledged, gap: end - begin },
    lease: changed && Math.max(0, Math.min(changed, end) - begin),
    ...{ undocumented: requests.undocumented, slowest: requests.slowest },
    statuses: requests.statuses,
  }
  await cluster.removePlants()
  return figures
}

/** Resolves to when another node, or none, held Patroni's lease, by performance.now(); undefined if stopped before. */
async function watchLease(
  etcd: Etcd,
  holder: string | undefined,
  stop: AbortSignal,
): Promise<number | undefined> {
  while (!stop.aborted) {
    await setTimeout(POLL_MS)
    // Nobody knows the holder while there is no quorum.
    const now = await etcd.leader().catch(() => holder)
    if (now !== holder) return performance.now()
  }
  return undefined
}
