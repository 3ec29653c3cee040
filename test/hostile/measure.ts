/** `npm run test:attacks`: attacks the service and prints the effects. */
import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Command } from 'commander'
import { startIssuer } from '../helpers/network/issuer.ts'
import { attacks } from './attacks/all.ts'
import { launch } from './attacks/launch.ts'
import { inFolder, makeStock, Trial } from './trial.ts'
import { formatTally } from './witness.ts'

/** Observation after everything is sent, while the service still works on it. */
const HOLD_MS = 10_000

interface Options {
  readonly scale: number
  readonly limit: number
  readonly attack: string
}

const program = new Command('test:attacks')
  .description('attack a service on loopback and print the effects')
  .option('--scale <number>', '1 is the size at which the problems were found', Number, 10)
  .option('--limit <seconds>', 'time limit of an attack', Number, 40)
  .option('--attack <text>', 'only attacks with this text in their name', '')
  .argument('[arguments...]', 'of the service, after --')
  .parse()
const { scale, limit, attack: text } = program.opts<Options>()

await inFolder(async (folder, owner) => {
  const stock = join(folder, 'stock.db')
  const database = join(folder, 'plants.db')
  await makeStock(stock, 10_000, 2000)
  const { args } = await startIssuer(owner)
  for (const { name } of attacks.filter(({ name }) => name.includes(text))) {
    for (const suffix of ['', '-wal', '-shm']) rmSync(database + suffix, { force: true })
    copyFileSync(stock, database)
    const trial = await Trial.start(owner, database, [...args, ...program.args])
    const running = launch(owner, [name], trial.target.port, scale)
    await Promise.race([running.done, delay(limit * 1000)])
    await delay(HOLD_MS)
    const { statuses, faults } = running.outcome
    const { problems, summary } = await trial.end(faults)
    await running.end()
    console.log(`${name}: it read ${formatTally(statuses)}\n  ${summary}`)
    if (problems.length > 0) process.exitCode = 1
  }
})
