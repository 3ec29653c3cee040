/**
 * `npm run bench:peers`: compares the service with other ways to serve a table over HTTP, each as durable as it is by
 * default and, where that can be set, with every commit on disk. README.md explains the figures.
 */
import { Option } from 'commander'
import { known } from '../../core/known.ts'
import { installTools } from '../lint/install.ts'
import { benchmark, type Options as Common, parseNumber } from './bench-options.ts'
import { count } from './figures/statistics.ts'
import { type Peer, peers } from './peers/subjects.ts'
import { runBenchmark } from './report.ts'
import type { Result } from './results.ts'
import { PostgresDatabases } from './servers/postgres-databases.ts'

interface Options extends Common {
  readonly stored: number
  readonly subjects?: readonly string[]
}

/** The names of loads in a table. */
const HEADS: Partial<Record<string, string>> = {
  sequential: 'sequential create',
  'random-53-bit': 'random create',
  page: 'page of 100',
}

const command = benchmark('bench:peers', 'compare the service with peers', {
  kinds: ['sequential', 'random-53-bit', 'read', 'page'],
})
  .addOption(
    // json-server writes all plants to its file for each create.
    new Option('--stored <number>', 'plants stored before the load')
      .default(10_000)
      .argParser(parseNumber),
  )
  .option('--subjects <names...>', 'what to measure, as named in the table')
const { stored, subjects, ...options } = command.parse().opts<Options>()

let databases: PostgresDatabases | undefined
const all = peers(stored, () => known(databases))
const names = all.map(({ name }) => name)
const unknown = subjects?.find((name) => !names.includes(name))
if (unknown !== undefined)
  command.error(`error: unknown subject '${unknown}': expected one of ${names.join(', ')}`)
const measured = all.filter(({ name }) => subjects?.includes(name) ?? true)

installTools(`${import.meta.dirname}/peers`)
await using teardowns = new AsyncDisposableStack()
databases = await PostgresDatabases.start(teardowns)
const results = await runBenchmark({
  subjects: measured,
  baselines: names.slice(0, 1),
  options,
  conditions: [`${count(stored)} plants`],
  charts: {},
})
console.log(`\nAs Markdown:\n\n${toMarkdown(measured, results)}`)

/** A row for each peer. The processor time is that of the server and of PostgreSQL. */
function toMarkdown(peers: readonly Peer[], results: readonly Result[]): string {
  const kinds = [...new Set(results.map(({ kind }) => kind))]
  const rows = peers.map(({ name, durability, checks }) => {
    const figures = kinds.map((kind) => {
      const result = results.find((each) => each.kind === kind && each.subject === name)
      return result === undefined ? '–' : toCell(result.run)
    })
    return [name, durability, checks, ...figures]
  })
  const head = [
    'server',
    'acknowledged creates are',
    'it checks',
    ...kinds.map((kind) => HEADS[kind] ?? kind),
  ]
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`)
  return lines.join('\n')
}

function toCell({ perSecond, cpuUs, databaseCpuUs, failed }: Result['run']): string {
  if (failed > 0) return '**failed**'
  return `${count(perSecond)}/s, ${count(cpuUs + databaseCpuUs)} µs`
}
