/**
 * `npm run bench:postgres`: compares replicas of the service on one PostgreSQL server with a common design, and measures
 * how replicas scale that are limited to a share of a core each. Everything runs on this machine, and the server has its
 * default settings. README.md explains the figures.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Option } from 'commander'
import { argument } from '../src/commands/options.ts'
import { integer } from '../src/config/setting-values.ts'
import { PostgresServer } from '../tools/postgres/server.ts'
import { CORE_SHARE, limitTo, whyUnlimited } from './cgroups.ts'
import { measureFsyncMs } from './disk.ts'
import { findGenerator } from './generator.ts'
import { watchInterruption } from './interruption.ts'
import { warnIfBusy } from './machine.ts'
import type { Run } from './measure.ts'
import { benchmark, describeConditions, type LoadOptions } from './options.ts'
import {
  type ComparisonMeasurement,
  compare,
  toComparisonChart,
  toComparisonTable,
} from './postgres-comparison.ts'
import { ALL_REPLICAS, measureReplicas, type ReplicasName } from './replicas.ts'
import { formatShares, printDoubts, printTable, SHARES, writeResults } from './report.ts'
import { type ScalingMeasurement, toChart, toResults, toTable } from './scaling-results.ts'
import { compileSlowFsync, startSlowly } from './slow-fsync.ts'
import { percent } from './statistics.ts'

/** Plants stored before the load starts. */
const STORED = 100_000

/** In each kind, replicas either use different ids or only read. */
const KINDS = ['sequential', 'random', 'read'] as const
type Kind = (typeof KINDS)[number]

const PARTS = ['comparison', 'scaling'] as const
type Part = (typeof PARTS)[number]

const ALL_COUNTS = ['1', '2', '4', '8']

/** The share of the machine for all replicas together. PostgreSQL and the load generators need most of the rest. */
const MACHINE_SHARE = 0.4

/** With less idle time, the machine can be what limits the replicas. */
const IDLE_MIN = 0.1

/** PostgreSQL's default, which the tests override. */
const SERVER_SETTINGS = { shared_buffers: '128MB' }

interface Options extends LoadOptions {
  readonly parts: Part[]
  readonly kinds: Kind[]
  readonly subjects: ReplicasName[]
  readonly replicas: string[]
  readonly connectionsPerReplica: number
  /** Additional time of each fsync, in milliseconds. */
  readonly fsync: number
}

const {
  parts,
  kinds,
  subjects,
  fsync: slowness,
  connectionsPerReplica,
  ...options
} = benchmark('bench:postgres', 'measure replicas on a PostgreSQL server')
  .addOption(choices('--parts <parts...>', 'what to measure', PARTS))
  .addOption(choices('--kinds <kinds...>', 'kinds of load', KINDS))
  .addOption(choices('--subjects <subjects...>', 'subjects of the comparison', ALL_REPLICAS))
  .addOption(choices('--replicas <numbers...>', 'numbers of limited replicas', ALL_COUNTS))
  .addOption(
    new Option('--connections-per-replica <number>', 'concurrent connections per limited replica')
      .default(32)
      .argParser(argument(integer(1, 1000))),
  )
  .addOption(
    new Option('--fsync <milliseconds>', 'additional time of each fsync on the server')
      .default(0)
      .argParser(argument(integer(0, 1000))),
  )
  .parse()
  .opts<Options>()
const { rounds, seconds, warmUp, connections, output } = options
const counts = options.replicas.map(Number)
const share = chooseShare()

const interruption = watchInterruption()
const { name: generator, generate } = await findGenerator()
const unlimited = whyUnlimited()
const machine = describeConditions(generator, options)
const scalingMachine = [
  describeConditions(
    generator,
    { ...options, connections: connectionsPerReplica },
    'connections per replica',
  ),
  `replicas: ${unlimited === undefined ? `${percent(share)} of a core each` : 'unlimited'}`,
].join(', ')
const isScaling = parts.includes('scaling')
if (parts.includes('comparison')) console.log(machine)
if (isScaling) console.log(scalingMachine)
if (isScaling && unlimited !== undefined) {
  console.log(`replicas are not limited, so more do not help without cores: ${unlimited}`)
}
const fsync = measureFsyncMs(tmpdir())
const more = slowness === 0 ? '' : ` (${slowness} ms more on the server)`
console.log(`fsync p50 ${fsync.toFixed(2)} ms${more}`)
const busyBefore = await warnIfBusy()

const compared: ComparisonMeasurement[] = []
const scaled: ScalingMeasurement[] = []
{
  await using teardowns = new AsyncDisposableStack()
  const teardown = (work: () => unknown) => teardowns.defer(async () => void (await work()))
  const server = await PostgresServer.make({ teardown }, tmpdir())
  await startServer(server)
  for (let round = 0; round < rounds; round++) {
    for (const kind of kinds) {
      for (const subject of parts.includes('comparison') ? subjects : []) {
        interruption.throwIfAborted()
        compared.push({ kind, subject, run: await compareOne(server, kind, subject) })
      }
      for (const units of isScaling ? counts : []) {
        interruption.throwIfAborted()
        scaled.push({ kind, units, run: await scaleOne(server, kind, units) })
      }
    }
  }
}
const json = { fsyncP50: fsync, slowness, busyBefore, stored: STORED }
if (compared.length > 0) await reportComparison()
if (scaled.length > 0) await reportScaling()

/** The share of a core of each replica. Rounded down to a whole percentage, as it is printed. */
function chooseShare(): number {
  const percentage = (100 * availableParallelism() * MACHINE_SHARE) / Math.max(...counts)
  return Math.min(CORE_SHARE, Math.floor(percentage) / 100)
}

function compareOne(server: PostgresServer, kind: Kind, subject: ReplicasName): Promise<Run> {
  const load = { kind, connections, seconds, warmUp, first: STORED + 1, stored: STORED }
  return measureReplicas(subject, server, load, generate)
}

function scaleOne(server: PostgresServer, kind: Kind, replicas: number): Promise<Run> {
  const load = {
    kind,
    connections: connectionsPerReplica * replicas,
    seconds,
    // Each process compiles its own code.
    warmUp: warmUp * replicas,
    first: STORED + 1,
    stored: STORED,
  }
  return measureReplicas(replicas, server, load, generate, { limit: limitAll })
}

/** Limits each process, if this system can do that. */
function limitAll(pids: readonly number[]): Disposable {
  using limits = new DisposableStack()
  if (unlimited === undefined) for (const pid of pids) limits.use(limitTo(share, { pid }))
  return limits.move()
}

async function reportComparison(): Promise<void> {
  const results = compare(compared)
  printTable(toComparisonTable(results), 2)
  printDoubts(compared.map(({ run }) => run))
  await writeResults(
    join(output, 'postgres'),
    { machine, ...json, results },
    { '': toComparisonChart(results, machine) },
  )
}

async function reportScaling(): Promise<void> {
  const results = toResults(scaled, 'replica')
  const [head = [], ...rows] = toTable(results, 'replica')
  const shares = results.map(formatShares)
  printTable(
    [[...head, ...SHARES], ...rows.map((row, index) => [...row, ...(shares[index] ?? [])])],
    1,
  )
  const runs = scaled.map(({ run }) => run)
  printDoubts(runs)
  const full = runs.filter(({ idle }) => idle < IDLE_MIN)
  if (full.length > 0) {
    const of = `${full.length} of ${runs.length} measurements`
    console.log(
      `\nFULL: in ${of} less than ${percent(IDLE_MIN)} of the processors were idle; more replicas could not help.`,
    )
  }
  await writeResults(
    join(output, 'postgres-scaling'),
    { machine: scalingMachine, coreShare: unlimited ? 1 : share, ...json, results },
    { '': toChart(results, 'replica', scalingMachine) },
  )
}

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

function choices(flags: string, description: string, values: readonly string[]): Option {
  return new Option(flags, description).choices(values).default(values)
}
