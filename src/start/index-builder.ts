import { setTimeout } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import { systemClock } from '../../core/time/clock.ts'
import { StoreUnavailable } from '../../service/store/plant-store.ts'
import { readIndex } from '../../service/store/sort-index.ts'
import type { OnProblem } from '../stores/shared/engine.ts'
import type { Store } from '../stores/shared/store.ts'
import { messageOf } from '../system/user-errors.ts'

/** How often to look for plants that other programs have changed. */
const INTERVAL_MS = 1000

/** The time between the parts of an index, for other commits. */
const PAUSE_MS = 10

/** How often a process without indexes looks whether another one has declared some. */
const LOOK_INTERVAL_MS = 60_000

const REPORT_INTERVAL_MS = 10_000

/**
 * Builds the indexes of a store and keeps them complete, while other requests are served. Another process may do the
 * same, or declare others. Does not keep the process running.
 *
 * @param onProblem receives why it must try again, such as a transaction of another program that does not end
 * @param signal stops it
 */
export async function buildIndexes(
  store: Pick<Store, 'indexPlants' | 'listRecords'>,
  log: Pick<FastifyBaseLogger, 'info'>,
  onProblem: OnProblem,
  signal: AbortSignal,
): Promise<void> {
  let building: Progress | undefined
  let reportedAt = systemClock.monotonic()
  while (!signal.aborted) {
    let isMore = false
    try {
      building ??= await findIncomplete(store)
      if (building === undefined) {
        await pause(LOOK_INTERVAL_MS, signal)
        continue
      }
      isMore = await store.indexPlants()
      const isDue = systemClock.monotonic() - reportedAt >= REPORT_INTERVAL_MS
      if (building.size > 0 && (isDue || !isMore)) {
        building = report(building, (await findIncomplete(store)) ?? new Map(), log)
        reportedAt = systemClock.monotonic()
      }
    } catch (error) {
      if (signal.aborted) return
      // A plant that nobody expected must not stop the service.
      const reason = error instanceof StoreUnavailable ? error.detail : messageOf(error)
      onProblem(`cannot compute the keys of indexes: ${reason}`)
    }
    await pause(isMore ? PAUSE_MS : INTERVAL_MS, signal)
  }
}

/** Does not keep the process running. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { ref: false, signal }).catch(() => {})
}

/** How far indexes have come, by the names of their members. */
type Progress = ReadonlyMap<string, bigint | undefined>

/** The indexes that are not complete; undefined if the store has no indexes at all. */
async function findIncomplete(store: Pick<Store, 'listRecords'>): Promise<Progress | undefined> {
  const { records } = await store.listRecords(['sort-index'])
  if (records.length === 0) return undefined
  const incomplete = records.map(readIndex).filter(({ isComplete }) => !isComplete)
  return new Map(incomplete.map(({ member, upTo }) => [member.name, upTo]))
}

/** Reports the progress of indexes. Returns those that are still not complete. */
function report(before: Progress, now: Progress, log: Pick<FastifyBaseLogger, 'info'>): Progress {
  for (const name of before.keys()) if (!now.has(name)) log.info(`plants can be sorted by ${name}`)
  for (const [name, upTo] of now)
    if (upTo !== undefined) log.info(`plants up to the id ${upTo} are sorted by ${name}`)
  return now
}
