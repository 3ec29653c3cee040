/** `npm run test:patroni`: breaks a cluster that Patroni manages, under load, and looks for lost changes. */
import { Command, InvalidArgumentError, Option } from 'commander'
import { Teardowns } from '../../tools/teardowns.ts'
import { Cluster } from './cluster.ts'
import { FAULTS, type Fault } from './faults.ts'
import { makePlace } from './place.ts'
import { isRight, roundLines, table } from './report.ts'
import { extendPath, missingRequirements } from './requirements.ts'
import { type Figures, runControl, runRound } from './round.ts'

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
  .description('break a cluster that Patroni manages, under load, and look for lost changes')
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

// Each program of the cluster has one.
process.setMaxListeners(50)

extendPath()
const missing = missingRequirements()
if (missing === undefined) await main(command.opts<Options>())
else {
  console.error(`test:patroni: ${missing}`)
  process.exitCode = MISSING
}

async function main({ rounds, fault: text, control, ...options }: Options): Promise<void> {
  const owner = new Teardowns()
  const isWanted = ({ name, isOfHaproxy = false }: Fault) =>
    name.includes(text) && !(isOfHaproxy && options.direct)
  const faults = FAULTS.filter(isWanted)
  if (faults.length === 0) command.error(`error: no fault has "${text}" in its name`)
  const figures = new Map<string, Figures[]>()
  try {
    const place = await makePlace(owner, options)
    console.log(`cluster at ${place.hosts.join(', ')} in ${place.folder}`)
    const cluster = await Cluster.start(owner, place)
    for (const fault of faults) {
      for (let round = 1; round <= rounds; round++) {
        record(figures, fault.name, await runRound(cluster, fault))
      }
    }
    if ([...figures.values()].flat().some((each) => !isRight(each))) process.exitCode = 1
    if (control) await recordControl(figures, cluster)
  } finally {
    if (figures.size > 0) console.log(`\n${table(figures)}`)
    await owner.run()
  }
}

async function recordControl(figures: Map<string, Figures[]>, cluster: Cluster): Promise<void> {
  const [fault] = FAULTS
  const name = 'control: kill the primary without synchronous mode'
  const result = await runControl(cluster, fault as Fault)
  record(figures, name, result)
  if (result.undocumented.length > 0) process.exitCode = 1
  if (result.lost.length > 0) return
  console.error('test:patroni: the control lost nothing, so the test cannot see a loss')
  process.exitCode = 1
}

function record(all: Map<string, Figures[]>, name: string, figures: Figures): void {
  const rounds = all.get(name) ?? []
  rounds.push(figures)
  all.set(name, rounds)
  console.log(roundLines(name, rounds.length, figures).join('\n'))
}

function toRounds(text: string): number {
  const rounds = Number(text)
  if (Number.isInteger(rounds) && rounds > 0) return rounds
  throw new InvalidArgumentError('Expected a number of rounds, at least 1.')
}
