import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describeConditions, type Options } from './bench-options.ts'
import { type Chart, draw } from './figures/chart.ts'
import { BUSY, warnIfBusy } from './figures/machine.ts'
import { count, percent } from './figures/statistics.ts'
import { findGenerator } from './load/generators.ts'
import { measureInTurn, type Run } from './measure.ts'
import { type Result, summarize, toChart, toFigures, toRatios } from './results.ts'
import type { Subject } from './servers/subjects.ts'

interface ChartPlan {
  readonly title: string
  readonly figure: 'perSecond' | 'cpuUs'
  readonly length: 'figure' | 'ratio'
}

export interface Benchmark {
  readonly subjects: readonly Subject[]
  /** The subjects to compare with each one that follows them. */
  readonly baselines: readonly string[]
  readonly options: Options
  /** Follows the number of connections in the first line. */
  readonly each?: string
  /** More conditions for the first line. */
  readonly conditions?: readonly string[]
  /** By the name of their file, without its extension. The first name is also that of the JSON file. */
  readonly charts: Readonly<Record<string, ChartPlan>>
}

/** Measures subjects in turn, prints tables of figures and of ratios, and writes them if a folder is given. */
export async function runBenchmark(benchmark: Benchmark): Promise<readonly Result[]> {
  const { subjects, baselines, options, each, conditions = [], charts } = benchmark
  const { name, generate } = await findGenerator()
  const machine = [describeConditions(name, options, each), ...conditions].join(', ')
  console.log(machine)
  const busyBefore = await warnIfBusy()
  const slices = await measureInTurn(subjects, options.kinds, options, generate)
  const results = summarize(slices, baselines)
  console.log('\nMedians of the rounds:\n')
  printTable(toFigures(results), 2)
  const ratios = toRatios(results)
  if (ratios.length > 1) {
    console.log('\nRatios within a round: the median of all rounds, and the quartiles:\n')
    printTable(ratios, 2)
  }
  printDoubts(slices.map(({ run }) => run))
  if (options.output === undefined) return results
  const drawn = Object.entries(charts).map(([file, { figure, ...plan }]) => {
    return [file, toChart(results, subjects, figure, { ...plan, subtitle: machine })] as const
  })
  await writeResults(options.output, { machine, busyBefore, results }, drawn)
  return results
}

/** Prints a table without its empty columns. The first `words` columns are left-aligned, the others right-aligned. */
function printTable(rows: readonly (readonly string[])[], words: number): void {
  const [head = [], ...body] = rows
  const widths = head.map((_, column) => {
    const isEmpty = body.every((row) => row[column] === '')
    return isEmpty ? 0 : Math.max(...rows.map((row) => row[column]?.length ?? 0))
  })
  for (const row of rows) {
    const cells = row.flatMap((cell, column) => {
      const width = widths[column] ?? 0
      if (width === 0) return []
      return [column < words ? cell.padEnd(width) : cell.padStart(width)]
    })
    console.log(cells.join('  ').trimEnd())
  }
}

/** Prints why figures are unreliable, if any are. Failed requests set the exit code to 1. */
function printDoubts(runs: readonly Run[]): void {
  const failed = runs.reduce((sum, run) => sum + run.failed, 0)
  if (failed > 0) {
    console.log(`\nFAILED: ${count(failed)} requests failed; the figures are invalid.`)
    process.exitCode = 1
  }
  const busy = runs.filter(({ others }) => others > BUSY)
  if (busy.length > 0) {
    const most = Math.max(...busy.map(({ others }) => others))
    const of = `${busy.length} of ${runs.length} slices`
    console.log(`\nBUSY: in ${of} other programs used up to ${percent(most)} of the processors.`)
  }
  if (runs.some(({ others }) => Number.isNaN(others))) {
    console.log('\nThis system does not report whether other programs were busy.')
  }
}

/** Writes a JSON file and charts, and prints their paths. */
async function writeResults(
  folder: string,
  results: Record<string, unknown>,
  charts: readonly (readonly [name: string, chart: Chart])[],
): Promise<void> {
  await mkdir(folder, { recursive: true })
  const dated = { date: new Date().toISOString(), ...results }
  const contents = charts.map(([name, chart]) => [`${name}.svg`, draw(chart)] as const)
  const round = (_: string, value: unknown) =>
    typeof value === 'number' ? Number(value.toPrecision(4)) : value
  const json = `${JSON.stringify(dated, round, 2)}\n`
  for (const [name, content] of [[`${charts[0]?.[0]}.json`, json] as const, ...contents]) {
    const file = join(folder, name)
    await writeFile(file, content)
    console.log(`written: ${file}`)
  }
}
