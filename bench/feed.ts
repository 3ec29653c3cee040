/**
 * `npm run bench:feed`: compares creates with and without the log of changes, on both engines. README.md explains the
 * figures.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { Option } from 'commander'
import { PostgresServer } from '../tools/postgres/server.ts'
import { findGenerator } from './generator.ts'
import { watchInterruption } from './interruption.ts'
import { warnIfBusy } from './machine.ts'
import { measure, type Run, summarizeRuns } from './measure.ts'
import { benchmark, describeConditions, type LoadOptions } from './options.ts'
import { measureReplicas } from './replicas.ts'
import { formatUs, printDoubts, printTable, writeResults } from './report.ts'
import { count, formatRatio, median } from './statistics.ts'
import { SUBJECTS } from './subjects.ts'

/** Plants stored before the load starts. */
const STORED = 100_000

const ENGINES = ['sqlite', 'postgres'] as const
type Engine = (typeof ENGINES)[number]

const KINDS = ['sequential', 'random'] as const
type Kind = (typeof KINDS)[number]

/** The log of changes, and the flags that turn it on or off. */
const FEEDS = { on: [], off: ['--keep-changes', '0'] } as const
type Feed = keyof typeof FEEDS

interface Options extends LoadOptions {
  readonly engines: Engine[]
  readonly kinds: Kind[]
}

interface Measurement {
  readonly engine: Engine
  readonly kind: Kind
  readonly feed: Feed
  readonly round: number
  readonly run: Run
}

const { engines, kinds, ...options } = benchmark(
  'bench:feed',
  'compare creates with and without the log of changes',
)
  .addOption(
    new Option('--engines <engines...>', 'databases').choices(ENGINES).default([...ENGINES]),
  )
  .addOption(new Option('--kinds <kinds...>', 'kinds of load').choices(KINDS).default([...KINDS]))
  .parse()
  .opts<Options>()
const { rounds, seconds, warmUp, connections, output } = options

const interruption = watchInterruption()
const { name: generator, generate } = await findGenerator()
const machine = describeConditions(generator, options)
console.log(machine)
const busyBefore = await warnIfBusy()

const measurements: Measurement[] = []
/** Bytes of the file per change. */
const logSizes: number[] = []
const folder = await mkdtemp(join(tmpdir(), 'plant-store-feed-'))
try {
  await using teardowns = new AsyncDisposableStack()
  const teardown = (work: () => unknown) => teardowns.defer(async () => void (await work()))
  const server = engines.includes('postgres')
    ? await PostgresServer.make({ teardown }, tmpdir())
    : undefined
  await server?.start({ shared_buffers: '128MB' })
  for (let round = 0; round < rounds; round++) {
    // The order alternates, because the second of two runs can be the faster one.
    const feeds: Feed[] = round % 2 === 0 ? ['on', 'off'] : ['off', 'on']
    for (const engine of engines) {
      for (const kind of kinds) {
        for (const feed of feeds) {
          interruption.throwIfAborted()
          const run = await measureOnce(engine, kind, feed, server)
          measurements.push({ engine, kind, feed, round, run })
        }
      }
    }
  }
} finally {
  await rm(folder, { recursive: true })
}

const results = engines.flatMap((engine) => kinds.map((kind) => summarize(engine, kind)))
const head = ['engine', 'load', 'feed on', 'off', 'ratio', 'CPU on', 'off', 'ratio', 'rounds']
const rows = results.map(({ engine, kind, on, off, ratio, cpuRatio, ratios }) => [
  ...[engine, kind, count(on.perSecond), count(off.perSecond), formatRatio(ratio)],
  ...[formatUs(on.cpuUs), formatUs(off.cpuUs), formatRatio(cpuRatio)],
  ratios.map(formatRatio).join(' '),
])
printTable([head, ...rows], 2)
const bytesPerMillionChanges = logSizes.length > 0 ? median(logSizes) * 1e6 : undefined
if (bytesPerMillionChanges !== undefined) {
  console.log(`\nlog on SQLite: ${count(bytesPerMillionChanges / 1e6)} MB per million changes`)
}
printDoubts(measurements.map(({ run }) => run))
const json = { machine, busyBefore, stored: STORED, bytesPerMillionChanges, results }
await writeResults(join(output, 'feed'), json, {})

async function measureOnce(
  engine: Engine,
  kind: Kind,
  feed: Feed,
  server: PostgresServer | undefined,
): Promise<Run> {
  const load = { kind, connections, seconds, warmUp, first: STORED + 1, stored: STORED }
  const flags = FEEDS[feed]
  if (server !== undefined && engine === 'postgres') {
    return measureReplicas('1 replica', server, load, generate, { flags })
  }
  const files = await mkdtemp(join(folder, 'sqlite-'))
  const file = join(files, 'plants.db')
  await SUBJECTS['plant store'].fill?.(file, STORED)
  const run = await measure('plant store', file, load, generate, { flags })
  if (feed === 'on') logSizes.push(measureLog(file))
  await rm(files, { recursive: true })
  return run
}

/** The size of the log in a file, in bytes per change. */
function measureLog(file: string): number {
  const db = new Sqlite(file, { readonly: true })
  try {
    return db
      .prepare<[], number>(
        `SELECT (SELECT sum(pgsize) FROM dbstat WHERE name = 'changes') * 1.0 / count(*) FROM changes`,
      )
      .pluck()
      .get() as number
  } finally {
    db.close()
  }
}

/** Processor time of the database server per request, in microseconds. */
function storingUs({ storing, perSecond }: Run): number {
  return (storing * cpus().length * 1e6) / perSecond
}

function summarize(engine: Engine, kind: Kind) {
  const runsOf = (feed: Feed) =>
    measurements
      .filter((each) => each.engine === engine && each.kind === kind && each.feed === feed)
      .sort((one, other) => one.round - other.round)
      .map(({ run }) => ({ ...run, cpuUs: run.cpuUs + storingUs(run) }))
  const [on, off] = [runsOf('on'), runsOf('off')]
  /** Within each round, because the speed of the machine can change between rounds. */
  const ratiosOf = (figure: 'perSecond' | 'cpuUs') =>
    on.map((run, round) => run[figure] / (off[round]?.[figure] ?? Number.NaN))
  const [ratios, cpuRatios] = [ratiosOf('perSecond'), ratiosOf('cpuUs')]
  return {
    engine,
    kind,
    on: summarizeRuns(on),
    off: summarizeRuns(off),
    ratio: median(ratios),
    cpuRatio: median(cpuRatios),
    ratios,
    cpuRatios,
  }
}
