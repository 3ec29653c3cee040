/**
 * Runs attacks in a separate process, so that they do not delay the measurements. Started by
 * `launch`; reports what it has read, and keeps its connections open until it is killed.
 */
import { count, type Tally } from '../witness.ts'
import { attacks } from './all.ts'
import { Attacker } from './attacker.ts'

const REPORT_INTERVAL_MS = 1000

const [port, scale, ...names] = process.argv.slice(2)
const attackers = names.map((name) => {
  const attack = attacks.find((each) => each.name === name)
  if (attack === undefined) throw new Error(`there is no attack named ${name}`)
  return { name, attack, attacker: new Attacker(Number(port), Number(scale)) }
})
process.on('disconnect', () => process.exit())
setInterval(() => report(false), REPORT_INTERVAL_MS)
await Promise.all(attackers.map(({ attack, attacker }) => attack.run(attacker)))
report(true)

function report(isDone: boolean): void {
  const statuses: Tally = {}
  const faults: string[] = []
  for (const { name, attacker } of attackers) {
    for (const [status, times] of Object.entries(attacker.statuses)) count(statuses, status, times)
    for (const fault of new Set(attacker.faults)) faults.push(`${name}: ${fault}`)
  }
  process.send?.({ isDone, statuses, faults })
}
