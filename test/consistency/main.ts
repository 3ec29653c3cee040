/**
 * `npm run test:consistency`: puts a service under contended load while a disaster happens, and judges what clients
 * saw. `-- --minutes 10 --disaster kill,threads --seed 7` chooses, `--consumers webhook,sqlite-mirror` adds what
 * consumes the feed in the meantime, `--judge FILE` judges a saved history again, and `--planted` shows how soon the
 * judges find planted faults.
 */
import { Command, InvalidArgumentError } from 'commander'
import { Teardowns } from '../../tools/tap/teardowns.ts'
import { CONSUMERS } from './consumers/consumers.ts'
import type { Disaster } from './disasters/disaster.ts'
import { DISASTERS } from './disasters/disasters.ts'
import { History } from './history.ts'
import { judge } from './judges/judge.ts'
import { FAULTS } from './planted/faults.ts'
import { discover, formatDiscovery } from './planted/planted.ts'
import { formatReport } from './report.ts'
import { newSeed, type RunOptions, run } from './run.ts'

interface Options {
  readonly minutes: number
  readonly disaster?: string
  readonly seed: number
  readonly consumers: readonly string[]
  readonly judge?: string
  readonly planted?: boolean
}

/**
 * A longer history can have too many calls for the memory, or too many open ones to be judged soon. Further rounds have
 * the next seeds.
 */
const ROUND_SECONDS = 30

const names = DISASTERS.map(({ name }) => name)
const command = new Command('test:consistency')
  .description('judge what contending clients see while a disaster happens')
  .option('--minutes <number>', 'of each disaster', toNumber, 1)
  .option('--disaster <names>', `separated by commas: ${names.join(', ')}; all by default`)
  .option('--seed <number>', 'of the plans of the clients', toNumber, newSeed())
  .option(
    '--consumers <names>',
    `of the feed, if they survive the disaster: ${Object.keys(CONSUMERS).join(', ')}; none by default`,
    toConsumers,
    [],
  )
  .option('--judge <file>', 'judge a saved history instead')
  .option('--planted', 'look for planted faults instead')
  .parse()

const options = command.opts<Options>()
// Each process has teardowns and listeners of its own.
process.setMaxListeners(0)
if (options.judge !== undefined) judgeAgain(options.judge)
else if (options.planted) await findAll(options)
else await runAll(options)

function judgeAgain(file: string): void {
  const { violations } = judge(History.load(file))
  console.log(violations.length === 0 ? 'no violation' : violations.join('\n'))
  if (violations.length > 0) process.exitCode = 1
}

async function findAll({ seed }: Options): Promise<void> {
  for (const fault of FAULTS) {
    const owner = new Teardowns()
    try {
      const discovery = await discover(fault, { owner, seed })
      console.log(formatDiscovery(discovery))
      if (discovery.seed === undefined) process.exitCode = 1
    } finally {
      await owner.run()
    }
  }
}

async function runAll({
  minutes,
  disaster: wanted = names.join(),
  seed,
  consumers,
}: Options): Promise<void> {
  const unknown = wanted.split(',').filter((name) => !names.includes(name))
  if (unknown.length > 0) command.error(`error: unknown disaster ${unknown}: use ${names}`)
  for (const disaster of DISASTERS.filter(({ name }) => wanted.split(',').includes(name))) {
    const missing = disaster.missing?.()
    if (missing !== undefined) {
      console.log(`${disaster.name}: skipped: ${missing}`)
      continue
    }
    const seconds = minutes * 60
    for (let done = 0; done < seconds; done += ROUND_SECONDS) {
      const round = Math.min(ROUND_SECONDS, seconds - done)
      await runRound(disaster, { seed: seed + done / ROUND_SECONDS, seconds: round, consumers })
    }
  }
}

async function runRound(disaster: Disaster, options: Omit<RunOptions, 'owner'>): Promise<void> {
  const owner = new Teardowns()
  try {
    const report = await run(disaster, { owner, ...options })
    console.log(formatReport(report))
    if (report.violations.length > 0) process.exitCode = 1
  } finally {
    await owner.run()
  }
}

function toNumber(text: string): number {
  const number = Number(text)
  if (!(number >= 0)) throw new InvalidArgumentError('expected a number')
  return number
}

function toConsumers(text: string): string[] {
  const chosen = text.split(',')
  const unknown = chosen.filter((name) => !(name in CONSUMERS))
  if (unknown.length > 0) throw new InvalidArgumentError(`unknown: ${unknown}`)
  return chosen
}
