import { Judge } from '../judge.ts'
import type { Target } from '../target.ts'
import { count, type Tally } from '../witness.ts'
import { type Fault, runConnection } from './connection.ts'
import { type Plan, planOf } from './plan.ts'

export interface CampaignOptions {
  readonly seed: number
  /** Number of the first connection. */
  readonly first?: number
  /** Mutated requests to send. */
  readonly requests: number
  /** Simultaneous connections. */
  readonly concurrency: number
}

/** The campaign stops after this many faults. */
const FAULTS_MAX = 20

/** Characters of what was sent and received that a fault shows, unless it is replayed. */
const SHOWN_MAX = 2000

/** Sends mutated requests to a service on many simultaneous connections. */
export async function runCampaign(target: Target, options: CampaignOptions) {
  const { seed, first = 0, requests, concurrency } = options
  const judge = await Judge.make(target.port)
  const kept = new Map<bigint, string>()
  const statuses: Tally = {}
  const faults: string[] = []
  let [next, mutated] = [first, 0]

  const client = async () => {
    while (mutated < requests && faults.length < FAULTS_MAX && target.isAlive) {
      const number = next++
      const plan = planOf(seed, number)
      mutated += plan.requests.filter(({ plant }) => plant === undefined).length
      const result = await runConnection(target.port, plan, judge)
      for (const status of result.statuses) count(statuses, status)
      for (const { id, name } of result.kept) kept.set(id, name)
      if (result.fault === undefined) continue
      const replay = `--seed ${seed} --connection ${number}`
      const shown = requests === 1 ? Number.POSITIVE_INFINITY : SHOWN_MAX
      faults.push(`${replay}: ${describe(result.fault, plan, shown)}`)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, client))
  return { connections: next - first, mutated, statuses, kept, faults }
}

/** @param shown characters of what was sent and received */
function describe({ reason, response }: Fault, plan: Plan, shown: number): string {
  const { requests, ...how } = plan
  const sent = requests.map(({ bytes }) => bytes).join('')
  const received = response && `${response.head}\r\n\r\n${response.body.toString('latin1')}`
  return [
    reason,
    JSON.stringify(how),
    `sent: ${JSON.stringify(sent).slice(0, shown)}`,
    `received: ${JSON.stringify(received)?.slice(0, shown)}`,
  ].join('\n    ')
}
