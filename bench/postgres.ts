/**
 * `npm run bench:postgres`: compares replicas of the service on one PostgreSQL server with a common design. Everything
 * runs on this machine, and the server has its default settings. README.md explains the figures.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Option } from 'commander'
import { argument } from '../src/commands/options.ts'
import { integer } from '../src/config/setting-values.ts'
import { PostgresServer } from '../tools/postgres/server.ts'
import type { Chart } from './chart.ts'
import { measureFsyncMs } from './disk.ts'
import { findGenerator } from './generator.ts'
import { watchInterruption } from './interruption.ts'
import { warnIfBusy } from './machine.ts'
import { type Run, summarizeRuns } from './measure.ts'
import { benchmark, describeConditions, type LoadOptions } from './options.ts'
import { ALL_REPLICAS, measureReplicas, REPLICAS, type ReplicasName } from './replicas.ts'
import { FIGURES, formatFigures, printDoubts, printTable, writeResults } from './report.ts'
import { compileSlowFsync, startSlowly } from './slow-fsync.ts'
import { count, formatRatio, percent } from './statistics.ts'

/** Plants stored before the load starts. */
const STORED = 100_000

/** In each kind, replicas either use different ids or only read. */
const KINDS = ['sequential', 'random', 'read'] as const
type Kind = (typeof KINDS)[number]

/** PostgreSQL's default, which the tests override. */
const SERVER_SETTINGS = { shared_buffers: '128MB' }

interface Options extends LoadOptions {
  readonly kinds: Kind[]
  readonly subjects: ReplicasName[]
  /** Additional time of each fsync, in milliseconds. */
  readonly fsync: number
}

interface Result extends Run {
  readonly subject: ReplicasName
  readonly kind: Kind
  /** Requests per second relative to `insert each`. NaN if that was not measured. */
  readonly ratio: number
  /** Requests per second in each round. */
  readonly rounds: readonly number[]
}

const kindsOption = new Option('--kinds <kinds...>', 'kinds of load').choices(KINDS)
const subjectsOption = new Option('--subjects <subjects...>', 'subjects to measure').choices(
  ALL_REPLICAS,
)
const about = 'measure replicas on a PostgreSQL server'
const fsyncOption = new Option(
  '--fsync <milliseconds>',
  'additional time of each fsync on the server',
)
const {
  kinds,
  subjects,
  fsync: slowness,
  ...options
} = benchmark('bench:postgres', about)
  .addOption(kindsOption.default(KINDS))
  .addOption(subjectsOption.default(ALL_REPLICAS))
  .addOption(fsyncOption.default(0).argParser(argument(integer(0, 1000))))
  .parse()
  .opts<Options>()
const { rounds, seconds, warmUp, connections, output } = options

const interruption = watchInterruption()
const { name: generator, generate } = await findGenerator()
const machine = describeConditions(generator, options)
console.log(machine)
const fsync = measureFsyncMs(tmpdir())
const more = slowness === 0 ? '' : ` (${slowness} ms more on the server)`
console.log(`fsync p50 ${fsync.toFixed(2)} ms${more}`)
const busyBefore = await warnIfBusy()

const runs: { subject: ReplicasName; kind: Kind; run: Run }[] = []
{
  await using teardowns = new AsyncDisposableStack()
  const teardown = (work: () => unknown) => teardowns.defer(async () => void (await work()))
  const server = await PostgresServer.make({ teardown }, tmpdir())
  await startServer(server)
  for (let round = 0; round < rounds; round++) {
    for (const kind of kinds) {
      for (const subject of subjects) {
        interruption.throwIfAborted()
        const load = { kind, connections, seconds, warmUp, first: STORED + 1, stored: STORED }
        runs.push({ subject, kind, run: await measureReplicas(subject, server, load, generate) })
      }
    }
  }
}
const results = kinds.flatMap(summarizeKind)
const rows = results.map((result) => {
  const { kind, subject, ratio } = result
  return [kind, subject, formatRatio(ratio), ...formatFigures(result), ...formatShares(result)]
})
const head = [
  'load',
  'subject',
  'ratio',
  ...FIGURES,
  'CPU: load',
  'service',
  'PostgreSQL',
  'others',
]
printTable([head, ...rows], 2)
printDoubts(runs.map(({ run }) => run))
const json = { machine, fsyncP50: fsync, slowness, busyBefore, stored: STORED, results }
await writeResults(join(output, 'postgres'), json, { '': chart() })

/** Preloads the slow fsync only if it is requested. */
async function startServer(server: PostgresServer): Promise<void> {
  if (slowness === 0) return server.start(SERVER_SETTINGS)
  const folder = await mkdtemp(join(tmpdir(), 'plant-store-slow-fsync-'))
  try {
    // The server runs as another user.
    await chmod(folder, 0o755)
    const library = compileSlowFsync(folder)
    await startSlowly(library, slowness, () => server.start(SERVER_SETTINGS))
  } finally {
    await rm(folder, { recursive: true })
  }
}

function summarizeKind(kind: Kind): Result[] {
  const each = subjects.map((subject) => {
    const same = runs.filter((run) => run.kind === kind && run.subject === subject)
    const ofEach = same.map(({ run }) => run)
    const rounds = ofEach.map(({ perSecond }) => Math.round(perSecond))
    return { subject, kind, ...summarizeRuns(ofEach), rounds }
  })
  const usual = each.find(({ subject }) => subject === 'insert each')?.perSecond ?? Number.NaN
  return each.map((result) => ({ ...result, ratio: result.perSecond / usual }))
}

function formatShares({ loading, serving, storing, others }: Run): string[] {
  return [loading, serving, storing, others].map(percent)
}

function chart(): Chart {
  return {
    title: 'Requests per second on PostgreSQL, and the ratio to an INSERT for each request',
    subtitle: machine,
    series: subjects.map((subject) => REPLICAS[subject]),
    groups: kinds.map((kind) => ({
      title: kind,
      bars: results
        .filter((result) => result.kind === kind)
        .map(({ subject, perSecond, ratio }) => ({
          series: subjects.indexOf(subject),
          value: perSecond,
          label: `${count(perSecond)} ${formatRatio(ratio) && `(${formatRatio(ratio)})`}`,
        })),
    })),
  }
}
