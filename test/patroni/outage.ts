/** How long no change was acknowledged, and how much of that Patroni's lease took. */
import { setTimeout } from 'node:timers/promises'
import type { Call } from '../consistency/history.ts'
import { isChange } from '../consistency/operations/operations.ts'
import type { Etcd } from './etcd.ts'

/** Delay between two looks at Patroni's lease, in milliseconds. */
const POLL_MS = 100

export interface Outage {
  readonly fault: string
  /** Number of changes that were acknowledged meanwhile. */
  readonly acknowledged: number
  /** The longest time between two acknowledged changes, in milliseconds. */
  readonly gapMs: number
  /** How much of that passed before Patroni's lease changed hands, in milliseconds; undefined if it did not. */
  readonly leaseMs: number | undefined
}

/**
 * Measures the outage that some work causes.
 *
 * @param calls receives the calls of the clients when they end
 */
export async function measureOutage(
  fault: string,
  { etcd, calls }: { readonly etcd: Etcd; readonly calls: readonly Call[] },
  work: () => Promise<void>,
): Promise<Outage> {
  const first = calls.length
  const watch = new AbortController()
  const changing = watchLease(etcd, await etcd.leader(), watch.signal)
  try {
    await work()
  } finally {
    watch.abort()
  }
  const changed = await changing
  const times = calls
    .slice(first)
    .filter(isAcknowledged)
    .map(({ ended }) => ended as number)
  let [begin, end] = [0, 0]
  for (const [index, time] of times.entries()) {
    const before = times[index - 1] ?? time
    if (time - before > end - begin) [begin, end] = [before, time]
  }
  const leaseMs = changed && Math.max(0, Math.min(changed, end) - begin)
  return { fault, acknowledged: times.length, gapMs: end - begin, leaseMs }
}

export function isAcknowledged(call: Call): boolean {
  const { status = 0 } = call.answer ?? {}
  return isChange(call) && status >= 200 && status < 300
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
