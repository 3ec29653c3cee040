/**
 * `npm run bench:growth`: measures reads, pages and creates in stores of ten thousand, one million and ten million
 * plants.
 */
import { constants } from 'node:fs'
import { copyFile, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Option } from 'commander'
import { argument } from '../src/commands/options.ts'
import { integer } from '../src/config/setting-values.ts'
import type { Chart } from './chart.ts'
import { findGenerator } from './generator.ts'
import { warnIfBusy } from './machine.ts'
import { measure, type Run, summarizeRuns } from './measure.ts'
import { benchmark, describeConditions, type LoadOptions } from './options.ts'
import {
  FIGURES,
  formatFigures,
  formatUs,
  printDoubts,
  printTable,
  writeResults,
} from './report.ts'
import { count, formatRatio } from './statistics.ts'
import { CACHED_STEP, cachedId, cachedStore } from './stores.ts'

const COUNTS = [10_000, 1_000_000, 10_000_000]

const KINDS = ['read', 'page', 'sequential', 'random'] as const
type Kind = (typeof KINDS)[number]

/** Colors of the stores, from the first to the last. */
const COLORS = ['#b8c0cc', '#4a6fa5', '#2f855a']

interface Options extends LoadOptions {
  readonly kinds: Kind[]
  readonly threads?: string
}

interface Result extends Run {
  readonly kind: Kind
  /** Plants stored before the load. */
  readonly stored: number
  /** Requests per second relative to the first store. */
  readonly ratio: number
  /** Processor time per request relative to the first store. */
  readonly cpuRatio: number
}

const parse = argument(integer(1, 1e9))
const command = benchmark('bench:growth', 'measure small and large stores')
  .argument('[counts...]', `numbers of stored plants (default: ${COUNTS.join(' ')})`, integers)
  .addOption(new Option('--kinds <kinds...>', 'kinds of load').choices(KINDS).default(KINDS))
  .option('--threads <n|auto>', 'passed on to the service')
  .parse()
const options = command.opts<Options>()
const { rounds, seconds, warmUp, connections, output, kinds, threads } = options
const flags = threads === undefined ? [] : ['--threads', threads]
const given: number[] = command.processedArgs[0] ?? []
const counts = given.length > 0 ? given : COUNTS

const { name: generator, generate } = await findGenerator()
const conditions = describeConditions(generator, options)
const machine = threads === undefined ? conditions : `${conditions}, --threads ${threads}`
console.log(machine)
for (const stored of counts) await cachedStore(stored)
const busyBefore = await warnIfBusy()

const runs: { kind: Kind; stored: number; run: Run }[] = []
for (let round = 0; round < rounds; round++) {
  for (const kind of kinds) {
    for (const stored of counts) runs.push({ kind, stored, run: await measureOnce(kind, stored) })
  }
}
const results = kinds.flatMap(summarizeKind)
const rows = results.map((result) => {
  const ratios = [result.ratio, result.cpuRatio].map(formatRatio)
  return [result.kind, count(result.stored), ...ratios, ...formatFigures(result)]
})
printTable([['load', 'stored', 'ratio', 'CPU ratio', ...FIGURES], ...rows], 1)
printDoubts(runs.map(({ run }) => run))
await writeResults(join(output, 'growth'), { machine, busyBefore, results }, { '': chart() })

/** Measures on a copy of a cached store. */
async function measureOnce(kind: Kind, stored: number): Promise<Run> {
  const folder = await mkdtemp(join(tmpdir(), 'plant-store-growth-'))
  try {
    const file = join(folder, 'plants.db')
    await copyFile(await cachedStore(stored), file, constants.COPYFILE_FICLONE)
    // Otherwise the disk would still be writing the copy during the measurement.
    const copy = await open(file, 'r+')
    await copy.sync()
    await copy.close()
    const ids = { first: cachedId(stored), stored, step: CACHED_STEP }
    const load = { kind, connections, seconds, warmUp, ...ids }
    return await measure('plant store', file, load, generate, { flags })
  } finally {
    await rm(folder, { recursive: true })
  }
}

function summarizeKind(kind: Kind): Result[] {
  const each = counts.map((stored) => {
    const same = runs.filter((run) => run.kind === kind && run.stored === stored)
    return { kind, stored, ...summarizeRuns(same.map(({ run }) => run)) }
  })
  const { perSecond = Number.NaN, cpuUs = Number.NaN } = each[0] ?? {}
  return each.map((result) => ({
    ...result,
    ratio: result.perSecond / perSecond,
    cpuRatio: result.cpuUs / cpuUs,
  }))
}

function chart(): Chart {
  return {
    title: 'Requests per second and processor time of each, and the ratios to the smallest store',
    subtitle: machine,
    series: counts.map((stored, index) => ({
      title: `${count(stored)} plants`,
      color: COLORS[index % COLORS.length] ?? '',
    })),
    groups: kinds.map((kind) => ({
      title: kind,
      bars: results
        .filter((result) => result.kind === kind)
        .map(({ stored, perSecond, ratio, cpuUs, cpuRatio }) => {
          const rate = `${count(perSecond)} (${formatRatio(ratio)})`
          const cost = Number.isNaN(cpuUs) ? '' : `, ${formatUs(cpuUs)} (${formatRatio(cpuRatio)})`
          return { series: counts.indexOf(stored), value: perSecond, label: rate + cost }
        }),
    })),
  }
}

function integers(value: string, before: number[] = []): number[] {
  return [...before, parse(value)]
}
