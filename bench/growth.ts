/** `npm run bench:growth`: the same creates in a store of 10 thousand, 1 million and 10 million plants. */
import { copyFile, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { argument } from '../src/commands/options.ts'
import { integer } from '../src/config/setting-values.ts'
import type { Chart } from './chart.ts'
import { findGenerator } from './load.ts'
import { describeMachine, warnIfBusy } from './machine.ts'
import { measure, type Run, typical } from './measure.ts'
import { benchmark, type LoadOptions } from './options.ts'
import { FIGURES, figuresOf, printDoubts, printTable, writeResults } from './report.ts'
import { count } from './statistics.ts'
import { keptId, keptStore } from './stores.ts'

const COUNTS = [10_000, 1_000_000, 10_000_000]
const COLOURS = { sequential: '#2f855a', random: '#4a6fa5' }

type Kind = keyof typeof COLOURS
const KINDS = Object.keys(COLOURS) as Kind[]

interface Result extends Run {
  readonly kind: Kind
  /** How many plants were stored before. */
  readonly stored: number
  /** Of requests per second, to those in the first of the stores. */
  readonly ratio: number
}

const parse = argument(integer(1, 1e9))
const command = benchmark('bench:growth', 'Measures creates in small stores and in large ones.')
  .argument('[counts...]', `of plants in the stores, by default ${COUNTS.join(' ')}`, wholes)
  .parse()
const { rounds, seconds, warmUp, connections, output } = command.opts<LoadOptions>()
const given: number[] = command.processedArgs[0] ?? []
const counts = given.length > 0 ? given : COUNTS

const { name: generator, generate } = await findGenerator()
const machine = `${describeMachine()}, ${generator}, ${connections} connections, ${seconds} s after ${warmUp} s of the same, median of ${rounds}`
console.log(machine)
for (const stored of counts) await keptStore(stored)
const busyBefore = await warnIfBusy()

const runs: { kind: Kind; stored: number; run: Run }[] = []
for (let round = 0; round < rounds; round++) {
  for (const kind of KINDS) {
    for (const stored of counts) runs.push({ kind, stored, run: await measureOnce(kind, stored) })
  }
}
const results = KINDS.flatMap(resultsOf)
const rows = results.map((result) => {
  return [result.kind, count(result.stored), result.ratio.toFixed(2), ...figuresOf(result)]
})
printTable([['load', 'stored', 'ratio', ...FIGURES], ...rows], 1)
printDoubts(runs.map(({ run }) => run))
await writeResults(join(output, 'growth'), { machine, busyBefore, results }, chart())

/** On a copy of a kept store. */
async function measureOnce(kind: Kind, stored: number): Promise<Run> {
  const folder = await mkdtemp(join(tmpdir(), 'plant-store-growth-'))
  try {
    const file = join(folder, 'plants.db')
    await copyFile(await keptStore(stored), file)
    // Or the disk would be busy with the copy while we measure.
    const copy = await open(file, 'r+')
    await copy.sync()
    await copy.close()
    const load = { kind, connections, seconds, warmUp, first: keptId(stored), stored }
    return await measure('plant store', file, load, generate)
  } finally {
    await rm(folder, { recursive: true })
  }
}

function resultsOf(kind: Kind): Result[] {
  const each = counts.map((stored) => {
    const same = runs.filter((run) => run.kind === kind && run.stored === stored)
    return { kind, stored, ...typical(same.map(({ run }) => run)) }
  })
  const least = each[0]?.perSecond ?? Number.NaN
  return each.map((result) => ({ ...result, ratio: result.perSecond / least }))
}

function chart(): Chart {
  return {
    title: 'Creates per second, by how many plants are stored before, and the ratio to the fewest',
    subtitle: machine,
    series: KINDS.map((kind) => ({ title: `${kind} ids`, colour: COLOURS[kind] })),
    groups: counts.map((stored) => ({
      title: count(stored),
      bars: results
        .filter((result) => result.stored === stored)
        .map(({ kind, perSecond, ratio }) => ({
          series: KINDS.indexOf(kind),
          value: perSecond,
          label: `${count(perSecond)} (${ratio.toFixed(2)})`,
        })),
    })),
  }
}

function wholes(value: string, before: number[] = []): number[] {
  return [...before, parse(value)]
}
