import { availableParallelism } from 'node:os'
import type { Config } from '../config/config.ts'
import { locateDatabase } from '../stores/engines.ts'
import type { Store, StoreLink } from '../stores/shared/store.ts'
import { canSharePort } from './port-reservation.ts'

/** More processors than this are left to the writer, the system and other programs. */
const AUTO_MAX = 8

/** Which threads serve HTTP. */
export interface ThreadPlan {
  /** One for each HTTP thread. If there are none, the main thread serves. */
  readonly links: readonly StoreLink[]
  /** Why there are fewer threads than the configuration asks for. */
  readonly warning?: string
}

/** Decides which threads serve HTTP, and lets them use the store. */
export async function planThreads(
  { threads, database }: Config,
  store: Store,
  processors = availableParallelism(),
): Promise<ThreadPlan> {
  const count = threads === 'auto' ? chooseCount(processors) : threads
  if (count === 1) return { links: [] }
  if (!(await canSharePort())) {
    return onlyOne(threads, 'on this system one thread serves, because threads cannot share a port')
  }
  const links = store.share(count)
  if (links !== undefined) return { links }
  const reason =
    'server' in locateDatabase(database)
      ? 'one thread serves a database on PostgreSQL: add replicas to scale'
      : 'a database in memory is served by one thread'
  return onlyOne(threads, reason)
}

/** The number of threads for `auto`: leaves a processor to the writer. */
export function chooseCount(processors: number): number {
  return processors <= 2 ? 1 : Math.min(processors - 1, AUTO_MAX)
}

/** Warns only if the operator has chosen the number of threads. */
function onlyOne(threads: Config['threads'], warning: string): ThreadPlan {
  return threads === 'auto' ? { links: [] } : { links: [], warning }
}
