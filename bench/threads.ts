/**
 * `npm run bench:threads`: measures the service with one, two, four and eight HTTP threads, each limited to a tenth of
 * a core, so that a small machine shows what more cores would give. README.md explains the figures.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Option } from 'commander'
import { argument } from '../src/commands/options.ts'
import { integer } from '../src/config/setting-values.ts'
import { CORE_SHARE, limitTo, whyUnlimited } from './cgroups.ts'
import { findGenerator } from './generator.ts'
import { watchInterruption } from './interruption.ts'
import { warnIfBusy } from './machine.ts'
import { measure, type Run } from './measure.ts'
import { benchmark, describeConditions, type LoadOptions } from './options.ts'
import { httpThreads } from './processor-time.ts'
import { printDoubts, printTable, writeResults } from './report.ts'
import { type ScalingMeasurement, toChart, toResults, toTable } from './scaling-results.ts'
import { percent } from './statistics.ts'
import { SUBJECTS } from './subjects.ts'

const KINDS = ['read', 'page', 'sequential'] as const
type Kind = (typeof KINDS)[number]

/** Plants stored before the load starts. */
const STORED = 100_000

/**
 * Linux distributes connections by a hash, so some threads get fewer. These are enough to keep all of them busy. More
 * would only add the cost of accepting them, which a tenth of a core takes long to pay.
 */
const CONNECTIONS = { description: 'connections per HTTP thread', default: 32 }

const ALL_THREADS = [1, 2, 4, 8]
const parseNumber = argument(integer(1, 256))

interface Options extends LoadOptions {
  readonly kinds: Kind[]
  readonly threads: number[]
}

const kindsOption = new Option('--kinds <kinds...>', 'kinds of load').choices(KINDS)
const threadsOption = new Option('--threads <numbers...>', 'numbers of HTTP threads')
const { kinds, threads, ...options } = benchmark(
  'bench:threads',
  `measure HTTP threads that are limited to ${CORE_SHARE} of a core each`,
  CONNECTIONS,
)
  .addOption(kindsOption.default(KINDS))
  .addOption(threadsOption.default(ALL_THREADS).argParser(parseThreads))
  .parse()
  .opts<Options>()
const { rounds, seconds, warmUp, connections, output } = options

const interruption = watchInterruption()
const { name: generator, generate } = await findGenerator()
const unlimited = whyUnlimited()
const limit = unlimited === undefined ? `${percent(CORE_SHARE)} of a core each` : 'unlimited'
const machine = `${describeConditions(generator, options, 'connections per thread')}, HTTP threads: ${limit}`
console.log(machine)
if (unlimited !== undefined) {
  console.log(`HTTP threads are not limited, so more do not help without cores: ${unlimited}`)
}
const busyBefore = await warnIfBusy()

const folder = await mkdtemp(join(tmpdir(), 'plant-store-threads-'))
try {
  const measurements: ScalingMeasurement[] = []
  for (let round = 0; round < rounds; round++) {
    for (const kind of kinds) {
      for (const count of threads) {
        interruption.throwIfAborted()
        measurements.push({ kind, units: count, run: await measureOnce(kind, count) })
      }
    }
  }
  const results = toResults(measurements, 'HTTP thread')
  printTable(toTable(results, 'HTTP thread'), 1)
  printDoubts(measurements.map(({ run }) => run))
  const json = { machine, coreShare: unlimited ? 1 : CORE_SHARE, busyBefore, stored: STORED }
  await writeResults(
    join(output, 'threads'),
    { ...json, results },
    { '': toChart(results, 'HTTP thread', machine) },
  )
} finally {
  await rm(folder, { recursive: true })
}

async function measureOnce(kind: Kind, count: number): Promise<Run> {
  const files = join(folder, 'one')
  await mkdir(files)
  try {
    const file = join(files, 'plants.db')
    await SUBJECTS['plant store'].fill?.(file, STORED)
    const load = {
      kind,
      connections: connections * count,
      seconds,
      // Each thread compiles its own code.
      warmUp: warmUp * count,
      first: STORED + 1,
      stored: STORED,
    }
    return await measure('plant store', file, load, generate, {
      flags: ['--threads', String(count)],
      limit: ([pid = 0]) => limitHttp(pid, count),
    })
  } finally {
    await rm(files, { recursive: true })
  }
}

/** Limits the HTTP threads of a service, if this system can do that. */
function limitHttp(pid: number, count: number): Disposable {
  if (unlimited !== undefined) return new DisposableStack()
  const threads = httpThreads(pid)
  if (threads.length === count) return limitTo(CORE_SHARE, { pid, threads })
  throw new Error(`the service has ${threads.length} HTTP threads instead of ${count}`)
}

function parseThreads(value: string, before: number[]): number[] {
  const number = parseNumber(value)
  return before === ALL_THREADS ? [number] : [...before, number]
}
