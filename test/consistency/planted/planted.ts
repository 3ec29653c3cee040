/** Whether the judges find a planted fault, and how soon. */
import { dirname } from 'node:path'
import { removeFolder } from '../../../tools/tap/temporary-folders.ts'
import type { Owner } from '../../helpers/processes/command.ts'
import type { Disaster } from '../disasters/disaster.ts'
import { run } from '../run.ts'

/** The seconds of each run: less than ten minutes for a fault. */
const RUNS = [3, 30, 300]

export interface Discovery {
  readonly fault: string
  /** Undefined if no run found it. */
  readonly seed: number | undefined
  /** How many seeds were tried. */
  readonly runs: number
  /** The duration of all runs, until the verdict. */
  readonly seconds: number
  readonly violation: string
}

export interface DiscoverOptions {
  readonly owner: Owner
  /** That of the first run. Each further run has the next one. */
  readonly seed: number
  /** Seconds of each run. */
  readonly runs?: readonly number[]
}

export async function discover(
  fault: Disaster,
  { owner, seed, runs = RUNS }: DiscoverOptions,
): Promise<Discovery> {
  const consumers = Object.keys(fault.consumers ?? {})
  const begun = performance.now()
  const secondsSince = () => (performance.now() - begun) / 1000
  for (const [index, seconds] of runs.entries()) {
    const tried = seed + index
    const { violations, file } = await run(fault, { owner, seed: tried, seconds, consumers })
    if (file !== undefined) removeFolder(dirname(file))
    const [violation] = violations
    if (violation === undefined) continue
    return { fault: fault.name, seed: tried, runs: index + 1, seconds: secondsSince(), violation }
  }
  return {
    fault: fault.name,
    seed: undefined,
    runs: runs.length,
    seconds: secondsSince(),
    violation: 'no violation',
  }
}

export function formatDiscovery({ fault, seed, runs, seconds, violation }: Discovery): string {
  const [first = ''] = violation.split('\n')
  const when = seed === undefined ? 'NOT FOUND' : `seed ${seed}, run ${runs}`
  return `${fault.padEnd(44)} ${when.padEnd(24)} ${seconds.toFixed(1).padStart(6)} s  ${first.slice(0, 90)}`
}
