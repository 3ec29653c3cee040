import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Chart, draw } from './chart.ts'
import { BUSY } from './machine.ts'
import type { Run } from './measure.ts'
import { count, percent } from './statistics.ts'

/** Prints a table. The first `words` columns are left-aligned, the others right-aligned. */
export function printTable(rows: readonly (readonly string[])[], words: number): void {
  const widths = rows[0]?.map((_, column) => {
    return Math.max(...rows.map((row) => row[column]?.length ?? 0))
  })
  for (const row of rows) {
    const cells = row.map((cell, column) => {
      const width = widths?.[column] ?? 0
      return column < words ? cell.padEnd(width) : cell.padStart(width)
    })
    console.log(cells.join('  '))
  }
}

export const FIGURES = [
  'requests/s',
  'CPU/request',
  'HTTP',
  'writer',
  'p50',
  'p99',
  'max',
  'memory',
  'failed',
]

/** The cells of a run, in the order of FIGURES. */
export function formatFigures(run: Run): string[] {
  const cpu = [run.cpuUs, run.httpCpuUs, run.writerCpuUs].map(formatUs)
  const times = [run.p50, run.p99, run.max].map((time) => `${time.toFixed(2)} ms`)
  return [count(run.perSecond), ...cpu, ...times, `${count(run.peakMemory)} MiB`, count(run.failed)]
}

/** Where the processors' time went. */
export const SHARES = ['CPU: load', 'service', 'PostgreSQL', 'others']

/** The cells of a run, in the order of SHARES. */
export function formatShares({ loading, serving, storing, others }: Run): string[] {
  return [loading, serving, storing, others].map(percent)
}

/** Formats a number of microseconds. Returns an empty string for NaN. */
export function formatUs(microseconds: number): string {
  return Number.isNaN(microseconds) ? '' : `${microseconds.toFixed(1)} µs`
}

/** Prints why figures are unreliable, if any are. Failed requests set the exit code to 1. */
export function printDoubts(runs: readonly Run[]): void {
  const failed = runs.reduce((sum, run) => sum + run.failed, 0)
  if (failed > 0) {
    console.log(`\nFAILED: ${count(failed)} requests failed; the figures are invalid.`)
    process.exitCode = 1
  }
  const busy = runs.filter(({ others }) => others > BUSY)
  if (busy.length > 0) {
    const most = Math.max(...busy.map(({ others }) => others))
    const of = `${busy.length} of ${runs.length} measurements`
    console.log(
      `\nBUSY: in ${of} other programs used up to ${percent(most)} of the processors; they are unreliable.`,
    )
  }
  if (runs.some(({ others }) => Number.isNaN(others))) {
    console.log('\nThis system does not report whether other programs were busy.')
  }
}

/**
 * Writes `<base>.json` and charts, and prints their paths.
 *
 * @param charts by the suffix of their file: the chart with an empty suffix becomes `<base>.svg`
 */
export async function writeResults(
  base: string,
  results: Record<string, unknown>,
  charts: Readonly<Record<string, Chart>>,
): Promise<void> {
  await mkdir(dirname(base), { recursive: true })
  const dated = { date: new Date().toISOString(), ...results }
  await writeFile(`${base}.json`, `${JSON.stringify(dated, null, 2)}\n`)
  const files = [`${base}.json`]
  for (const [suffix, chart] of Object.entries(charts)) {
    const file = `${base}${suffix}.svg`
    await writeFile(file, draw(chart))
    files.push(file)
  }
  console.log(`\nwritten: ${files.join(', ')}`)
}
