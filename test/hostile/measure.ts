/** `npm run test:attacks`: attacks the service and prints a table of the effects. */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command, Option } from 'commander'
import { attacks } from './attacks/all.ts'
import { makeStock } from './plants.ts'
import { type Figures, tryAttack } from './trial.ts'
import type { Tally } from './witness.ts'

const STOCK = { plants: 10_000, large: 2000 }

interface Options {
  readonly scale: number
  readonly limit: number
  readonly attack?: string
}

const program = new Command('test:attacks')
  .description('attack a service on loopback and print the effects')
  .addOption(
    new Option('--scale <number>', '1 is the size at which the problems were found')
      .argParser(Number)
      .default(10),
  )
  .addOption(
    new Option('--limit <seconds>', 'time limit of an attack').argParser(Number).default(40),
  )
  .addOption(new Option('--attack <text>', 'only attacks with this text in their name'))
  .argument('[arguments...]', 'of the service, after --')
  .parse()

const { scale, limit, attack: text = '' } = program.opts<Options>()
const folder = mkdtempSync(join(tmpdir(), 'plant-store-attacks-'))
const endings: (() => unknown)[] = []
const owner = { teardown: (end: () => unknown) => void endings.push(end) }
try {
  const stock = join(folder, 'stock.db')
  await makeStock(owner, stock, STOCK)
  console.log(headings().join(''))
  for (const { name } of attacks.filter(({ name }) => name.includes(text))) {
    const database = join(folder, 'plants.db')
    for (const suffix of ['', '-wal', '-shm']) rmSync(database + suffix, { force: true })
    copyFileSync(stock, database)
    const options = { database, attack: name, scale, limitMs: limit * 1000, args: program.args }
    const figures = await tryAttack(owner, options)
    console.log(row(figures))
    for (const fault of new Set(figures.faults.slice(0, 5))) console.log(`  ${fault.slice(0, 300)}`)
    if (!isWell(figures)) process.exitCode = 1
  }
} finally {
  for (const end of endings) await end()
  rmSync(folder, { recursive: true })
}

/** Nothing lost, only documented responses, and a clean stop. */
function isWell({ survived, lost, faults, stop }: Figures): boolean {
  return survived && lost === 0 && faults.length === 0 && stop.end === 0
}

function headings(): string[] {
  return [
    '| attack | peak MiB (before) | descriptors | health p50 / p99 / max ms | health | creates | acknowledged / lost',
    ' | read by the attack | alive | stop |\n',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |',
  ]
}

function row(figures: Figures): string {
  const { latency, stop } = figures
  const cells = [
    figures.attack,
    `${figures.memory} (${figures.memoryBefore})`,
    figures.descriptors,
    [latency.p50, latency.p99, latency.max].map((ms) => ms.toFixed(ms < 10 ? 1 : 0)).join(' / '),
    listOf(figures.health),
    listOf(figures.creates),
    `${figures.acknowledged} / ${figures.lost}`,
    listOf(figures.statuses),
    figures.survived ? 'yes' : 'no',
    `${stop.end} after ${(stop.ms / 1000).toFixed(1)} s`,
  ]
  return `| ${cells.join(' | ')} |`
}

function listOf(tally: Tally): string {
  const entries = Object.entries(tally).map(([status, number]) => `${status}: ${number}`)
  return entries.join(', ') || '–'
}
