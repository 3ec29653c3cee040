/**
 * Runs attacks in a separate process, so that they do not delay the measurements. Started by
 * `launch`; sends a message when everything is done, and keeps its connections open until it is killed.
 */
import { count, type Tally } from '../witness.ts'
import { attacks } from './all.ts'
import { Attacker } from './attacker.ts'

const [port, scale, ...names] = process.argv.slice(2)
const statuses: Tally = {}
const faults: string[] = []
process.on('disconnect', () => process.exit())
await Promise.all(
  names.map(async (name) => {
    const attack = attacks.find((each) => each.name === name)
    if (attack === undefined) throw new Error(`there is no attack named ${name}`)
    const attacker = new Attacker(Number(port), Number(scale))
    await attack.run(attacker)
    for (const [status, times] of Object.entries(attacker.statuses)) count(statuses, status, times)
    for (const fault of new Set(attacker.faults)) faults.push(`${name}: ${fault}`)
  }),
)
process.send?.({ statuses, faults })
