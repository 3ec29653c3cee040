/** The process that `launch` starts. It keeps its connections open until it is killed. */
import { attacks } from './all.ts'
import { Attacker } from './attacker.ts'

const REPORT_INTERVAL_MS = 1000

const [port, scale, ...names] = process.argv.slice(2)
const attacker = new Attacker(Number(port), Number(scale))
process.on('disconnect', () => process.exit())
setInterval(report, REPORT_INTERVAL_MS, false)
const chosen = attacks.filter(({ name }) => names.includes(name))
if (chosen.length < names.length) throw new Error(`there are no such attacks: ${names}`)
await Promise.all(chosen.map((attack) => attack.run(attacker)))
report(true)

function report(isDone: boolean): void {
  const { statuses, faults } = attacker
  process.send?.({ isDone, statuses, faults: [...new Set(faults)] })
}
