import { Judge } from '../judge.ts'
import { runConnection } from './connection.ts'
import { escaped } from './findings.ts'
import { planOf } from './plan.ts'

/** Replays a single connection of a campaign and prints it. */
export async function replay(port: number, seed: number, connection: number): Promise<void> {
  const plan = planOf(seed, connection)
  const { requests, ...how } = plan
  console.log(JSON.stringify(how))
  for (const { bytes, known } of requests) {
    const name = known === undefined ? 'anything' : `${known.method} ${known.path}`
    console.log(`${name}: ${escaped(bytes)}`)
  }
  const { statuses, fault, wasReset } = await runConnection(port, plan, await Judge.make(port))
  console.log(`answered ${statuses.join(', ')}${wasReset ? ', then reset' : ''}`)
  if (fault === undefined) return
  const { reason, response } = fault
  console.log(`FOUND: ${reason}\n${response ? `${response.head}\n\n${response.body}` : ''}`)
  process.exitCode = 1
}
