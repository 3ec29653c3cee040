/**
 * `npm run test:hostile`: sends mutated requests for all operations to a service and checks the responses.
 * `-- --seed N` repeats a campaign, `-- --seed N --connection N` replays a single connection.
 */
import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { Command } from 'commander'
import { argument } from '../../../src/commands/console/options.ts'
import { integer } from '../../../src/config/setting-values.ts'
import { WITH_FIELDS } from '../../helpers/plants/nursery.ts'
import { inFolder, Trial } from '../trial.ts'
import { formatTally } from '../witness.ts'
import { runCampaign } from './campaign.ts'

interface Options {
  readonly seed: number
  readonly requests: number
  readonly connections: number
  readonly connection?: number
}

const SEEDS = 2 ** 31 - 1
const seeds = argument(integer(0, SEEDS))

const program = new Command('test:hostile')
  .description('send mutated requests to a service on loopback')
  .option('--seed <number>', 'of the mutations', seeds, randomInt(SEEDS))
  .option('--requests <number>', 'mutated requests to send', argument(integer(0, 1e9)), 1e6)
  .option('--connections <number>', 'simultaneous connections', argument(integer(1, 1000)), 64)
  .option('--connection <number>', 'replay a single connection', seeds)
  .argument('[arguments...]', 'of the service, after --')
  .parse()

const { seed, requests, connections: concurrency, connection: first } = program.opts<Options>()
const isReplay = first !== undefined
await inFolder(async (folder, owner) => {
  console.log(`seed ${seed}`)
  const begun = performance.now()
  // Short, because the fuzzer waits for the 408 of incomplete requests.
  const args = ['--request-timeout=2s', ...WITH_FIELDS, ...program.args]
  const trial = await Trial.start(owner, join(folder, 'plants.db'), args)
  const options = isReplay ? { first, requests: 1, concurrency: 1 } : { requests, concurrency }
  const { mutated, connections, statuses, kept, faults } = await runCampaign(trial.target, {
    seed,
    ...options,
  })
  const { problems, summary } = await trial.end(faults, kept)
  const seconds = Math.round((performance.now() - begun) / 1000)
  console.log(`${mutated} mutated requests on ${connections} connections in ${seconds} s`)
  console.log(`  ${formatTally(statuses)}\n  ${summary}`)
  if (problems.length > 0) process.exitCode = 1
})
