/** `npm run bench:growth`: measures creates in stores of ten thousand, one million and ten million plants. */
import { copyFile, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { argument } from '../src/commands/options.ts'
import { integer } from '../src/config/setting-values.ts'
import type { Chart } from './chart.ts'
import { findGenerator } from './generator.ts'
import { warnIfBusy } from './machine.ts'
import { measure, type Run, summarizeRuns } from './measure.ts'
import { benchmark, describeConditions, type LoadOptions } from './options.ts'
import { FIGURES, formatFigures, printDoubts, printTable, writeResults } from './report.ts'
import { count } from './statistics.ts'
import { cachedId, cachedStore } from './stores.ts'

const COUNTS = [10_000, 1_000_000, 10_000_000]
const COLORS = { sequential: '#2f855a', random: '#4a6fa5' }

type Kind = keyof typeof COLORS
const KINDS = Object.keys(COLORS) as Kind[]

interface Result extends Run {
  readonly kind: Kind
  /** Plants stored before the load. */
  readonly stored: number
  /** Requests per second relative to the first store. */
  readonly ratio: number
}

const parse = argument(integer(1, 1e9))
const command = benchmark('bench:growth', 'measure creates in small and large stores')
  .argument('[counts...]', `numbers of stored plants (default: ${COUNTS.join(' ')})`, integers)
  .parse()
const options = command.opts<LoadOptions>()
const { rounds, seconds, warmUp, connections, output } = options
const given: number[] = command.processedArgs[0] ?? []
const counts = given.length > 0 ? given : COUNTS

const { name: generator, generate } = await findGenerator()
const machine = describeConditions(generator, options)
console.log(machine)
for (const stored of counts) await cachedStore(stored)
const busyBefore = await warnIfBusy()

const runs: { kind: Kind; stored: number; run: Run }[] = []
for (let round = 0; round < rounds; round++) {
  for (const kind of KINDS) {
    for (const stored of counts) runs.push({ kind, stored, run: await measureOnce(kind, stored) })
  }
}
const results = KINDS.flatMap(summarizeKind)
const rows = results.map((result) => {
  return [result.kind, count(result.stored), result.ratio.toFixed(2), ...formatFigures(result)]
})
printTable([['load', 'stored', 'ratio', ...FIGURES], ...rows], 1)
printDoubts(runs.map(({ run }) => run))
await writeResults(join(output, 'growth'), { machine, busyBefore, results }, { '': chart() })

/** Measures on a copy of a cached store. */
async function measureOnce(kind: Kind, stored: number): Promise<Run> {
  const folder = await mkdtemp(join(tmpdir(), 'plant-store-growth-'))
  try {
    const file = join(folder, 'plants.db')
    await copyFile(await cachedStore(stored), file)
    // Otherwise the disk would still be writing the copy during the measurement.
    const copy = await open(file, 'r+')
    await copy.sync()
    await copy.close()
    const load = { kind, connections, seconds, warmUp, first: cachedId(stored), stored }
    return await measure('plant store', file, load, generate)
  } finally {
    await rm(folder, { recursive: true })
  }
}

function summarizeKind(kind: Kind): Result[] {
  const each = counts.map((stored) => {
    const same = runs.filter((run) => run.kind === kind && run.stored === stored)
    return { kind, stored, ...summarizeRuns(same.map(({ run }) => run)) }
  })
  const smallest = each[0]?.perSecond ?? Number.NaN
  return each.map((result) => ({ ...result, ratio: result.perSecond / smallest }))
}

function chart(): Chart {
  return {
    title: 'Creates per second by number of stored plants, and the ratio to the smallest store',
    subtitle: machine,
    series: KINDS.map((kind) => ({ title: `${kind} ids`, color: COLORS[kind] })),
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

function integers(value: string, before: number[] = []): number[] {
  return [...before, parse(value)]
}
