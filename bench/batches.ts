/**
 * `npm run bench:batches`: compares batches of several sizes with single creates, on both engines, while other clients
 * read and create single plants. README.md explains the figures.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Option } from 'commander'
import { PostgresServer } from '../tools/postgres/server.ts'
import { findGenerator } from './generator.ts'
import { watchInterruption } from './interruption.ts'
import type { Generate, Load, Measured } from './load.ts'
import { warnIfBusy } from './machine.ts'
import { measure, type Run, summarizeRuns } from './measure.ts'
import { benchmark, describeConditions, type LoadOptions } from './options.ts'
import { measureReplicas } from './replicas.ts'
import { formatUs, printDoubts, printTable, writeResults } from './report.ts'
import { ALL_BATCH_KINDS, type BatchKind, plantsPerRequest } from './requests.ts'
import { count, formatRatio, median } from './statistics.ts'
import { SUBJECTS } from './subjects.ts'

/** Plants stored before the load starts. */
const STORED = 100_000

const ENGINES = ['sqlite', 'postgres'] as const
type Engine = (typeof ENGINES)[number]

const KINDS = ['sequential', ...ALL_BATCH_KINDS] as const
type Kind = 'sequential' | BatchKind

/** The clients that do not send batches: nine reads, then one create. */
const OTHERS = { kind: 'mixed', connections: 4 } as const

/** Distance between the ids of the batches and those of the other clients. */
const ID_DISTANCE = 1e9

interface Options extends LoadOptions {
  readonly engines: Engine[]
  readonly kinds: Kind[]
}

interface Measurement {
  readonly engine: Engine
  readonly kind: Kind
  readonly run: Run
  readonly others: Measured
}

const enginesOption = new Option('--engines <engines...>', 'databases').choices(ENGINES)
const kindsOption = new Option('--kinds <kinds...>', 'kinds of load').choices(KINDS)
const { engines, kinds, ...options } = benchmark(
  'bench:batches',
  'compare batches of plants with single creates',
)
  .addOption(enginesOption.default(ENGINES))
  .addOption(kindsOption.default(KINDS))
  .parse()
  .opts<Options>()
const { rounds, seconds, warmUp, connections, output } = options

const interruption = watchInterruption()
const { name: generator, generate } = await findGenerator()
const conditions = describeConditions(generator, options)
const machine = `${conditions}, and ${OTHERS.connections} connections with ${OTHERS.kind} requests`
console.log(machine)
const busyBefore = await warnIfBusy()

const measurements: Measurement[] = []
const folder = await mkdtemp(join(tmpdir(), 'plant-store-batches-'))
try {
  await using teardowns = new AsyncDisposableStack()
  const teardown = (work: () => unknown) => teardowns.defer(async () => void (await work()))
  const server = engines.includes('postgres')
    ? await PostgresServer.make({ teardown }, tmpdir())
    : undefined
  await server?.start({ shared_buffers: '128MB' })
  for (let round = 0; round < rounds; round++) {
    for (const kind of kinds) {
      for (const engine of engines) {
        interruption.throwIfAborted()
        measurements.push(await measureOnce(engine, kind, server))
      }
    }
  }
} finally {
  await rm(folder, { recursive: true })
}

const results = engines.flatMap((engine) => kinds.map((kind) => summarize(engine, kind)))
const head = [
  'engine',
  'load',
  'plants/s',
  'ratio',
  'CPU/plant',
  'p50',
  'p99',
  'others: p50',
  'p99',
]
const rows = results.map((result) => [
  ...[result.engine, result.kind, count(result.plantsPerSecond), ratioOf(result)],
  formatUs(result.cpuUsPerPlant),
  ...[result.p50, result.p99, result.othersP50, result.othersP99].map(
    (ms) => `${ms.toFixed(1)} ms`,
  ),
])
printTable([head, ...rows], 2)
printDoubts(measurements.map(({ run, others }) => ({ ...run, failed: run.failed + others.failed })))
await writeResults(join(output, 'batches'), { machine, busyBefore, stored: STORED, results }, {})

async function measureOnce(
  engine: Engine,
  kind: Kind,
  server: PostgresServer | undefined,
): Promise<Measurement> {
  let others: Measured | undefined
  const generateBoth: Generate = async (url: string, load: Load) => {
    const first = load.first + ID_DISTANCE
    const both = [generate(url, load), generate(url, { ...load, ...OTHERS, first })] as const
    const [batches, rest] = await Promise.all(both)
    others = rest
    return batches
  }
  const load = { kind, connections, seconds, warmUp, first: STORED + 1, stored: STORED }
  const run =
    server !== undefined && engine === 'postgres'
      ? await measureReplicas('1 replica', server, load, generateBoth)
      : await measureFile(load, generateBoth)
  return { engine, kind, run, others: others as Measured }
}

async function measureFile(load: Parameters<typeof measure>[2], both: Generate): Promise<Run> {
  const files = await mkdtemp(join(folder, 'sqlite-'))
  const file = join(files, 'plants.db')
  await SUBJECTS['plant store'].fill?.(file, STORED)
  return measure('plant store', file, load, both)
}

function summarize(engine: Engine, kind: Kind) {
  const same = measurements.filter((each) => each.engine === engine && each.kind === kind)
  const run = summarizeRuns(same.map(({ run }) => run))
  const plants = plantsPerRequest(kind)
  return {
    engine,
    kind,
    plantsPerSecond: run.perSecond * plants,
    // Includes the requests of the other clients, so it is an upper bound.
    cpuUsPerPlant: run.cpuUs / plants,
    p50: run.p50,
    p99: run.p99,
    othersP50: median(same.map(({ others }) => others.p50)),
    othersP99: median(same.map(({ others }) => others.p99)),
    rounds: same.map(({ run }) => Math.round(run.perSecond * plants)),
  }
}

/** Plants per second relative to single creates. */
function ratioOf({ engine, plantsPerSecond }: ReturnType<typeof summarize>): string {
  const single = results.find((each) => each.engine === engine && each.kind === 'sequential')
  return formatRatio(plantsPerSecond / (single?.plantsPerSecond ?? Number.NaN))
}
