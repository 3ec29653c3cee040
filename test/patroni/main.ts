/** `npm run test:patroni`: breaks a cluster that Patroni manages, under load, and judges what clients saw. */
import { Command, InvalidArgumentError, Option } from 'commander'
import { Teardowns } from '../../tools/tap/teardowns.ts'
import type { Disaster } from '../consistency/disasters/disaster.ts'
import { formatReport } from '../consistency/report.ts'
import { newSeed, type Report, run } from '../consistency/run.ts'
import { asynchronousPatroni, type PatroniOptions, patroni } from './disasters.ts'
import { FAULTS, type Fault } from './faults.ts'
import type { Outage } from './outage.ts'
import { outageLine, outageTable } from './report.ts'
import { extendPath, missingRequirements } from './requirements.ts'

/** Limit for a cluster, in seconds. It ends after its last fault. */
const SECONDS_MAX = 3600

/** The exit code if something is missing on this machine. */
const MISSING = 2

interface Options {
  readonly rounds: number
  readonly fault: string
  readonly control: boolean
  readonly direct?: boolean
  readonly keep?: boolean
}

const command = new Command('test:patroni')
  .description('break a cluster that Patroni manages, under load, and judge what clients see')
  .addOption(
    new Option('--rounds <number>', 'rounds of each fault')
      .env('ROUNDS')
      .argParser(toRounds)
      .default(10),
  )
  .addOption(new Option('--fault <text>', 'only faults with this text in their name').default(''))
  .addOption(new Option('--no-control', 'skip the control without synchronous mode'))
  .addOption(new Option('--direct', 'connect the replicas to all servers instead of HAProxy'))
  .addOption(new Option('--keep', 'keep the data and the logs of all programs'))
  .parse()

// Each program of a cluster has one.
process.setMaxListeners(0)

extendPath()
const missing = missingRequirements()
if (missing === undefined) await main(command.opts<Options>())
else {
  console.error(`test:patroni: ${missing}`)
  process.exitCode = MISSING
}

async function main({ rounds, fault: text, control, ...options }: Options): Promise<void> {
  const isWanted = ({ name, isOfHaproxy = false }: Fault) =>
    name.includes(text) && !(isOfHaproxy && options.direct)
  const faults = FAULTS.filter(isWanted)
  if (faults.length === 0) command.error(`error: no fault has "${text}" in its name`)
  const outages: Outage[] = []
  const report = (outage: Outage) => {
    outages.push(outage)
    console.log(outageLine(outage))
  }
  for (let round = 1; round <= rounds; round++) {
    const { violations } = await runOnce(patroni(faults, { ...options, report }), faults.length)
    if (violations.length > 0) process.exitCode = 1
  }
  if (control) await runControl({ ...options, report })
  console.log(`\n${outageTable(outages)}`)
}

/** A cluster without synchronous mode, whose loss the judges must see. */
async function runControl(options: PatroniOptions): Promise<void> {
  const { violations } = await runOnce(asynchronousPatroni(FAULTS[0] as Fault, options), 1)
  if (violations.some((each) => each.includes('not linearizable'))) return
  console.error('test:patroni: the control lost nothing, so the test cannot see a loss')
  process.exitCode = 1
}

async function runOnce(disaster: Disaster, harms: number): Promise<Report> {
  const owner = new Teardowns()
  try {
    const report = await run(disaster, { owner, seed: newSeed(), seconds: SECONDS_MAX, harms })
    console.log(formatReport(report))
    return report
  } finally {
    await owner.run()
  }
}

function toRounds(text: string): number {
  const rounds = Number(text)
  if (Number.isInteger(rounds) && rounds > 0) return rounds
  throw new InvalidArgumentError('Expected a number of rounds, at least 1.')
}
