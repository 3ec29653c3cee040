/**
 * `npm run test:hostile`: sends mutated requests for all operations to a service and checks the responses.
 * `-- --seed N` repeats a campaign, `-- --seed N --connection N` replays a single connection.
 */
import { randomInt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { Command, Option } from 'commander'
import { argument } from '../../../src/commands/options.ts'
import { integer } from '../../../src/config/setting-values.ts'
import { MEMORY_MAX } from '../bound.ts'
import { Monitor } from '../monitor.ts'
import { Target } from '../target.ts'
import { missingFrom, Witness } from '../witness.ts'
import { type CampaignOptions, type Report, sumOf } from './campaign.ts'
import { describeFindings } from './findings.ts'
import { replay } from './replay.ts'

/** Short, because the fuzzer waits for the 408 of incomplete requests. */
const ARGS = ['--request-timeout=2s']

/** More than `--shutdown-timeout` and the exit of the process take. */
const STOP_MS = 20_000

interface Options {
  readonly seed: number
  readonly requests: number
  readonly connections: number
  readonly workers: number
  readonly connection?: number
}

const SEEDS = 2 ** 31 - 1

const program = new Command('test:hostile')
  .description('send mutated requests to a service on loopback')
  .addOption(whole('--seed <number>', 'of the mutations', SEEDS).default(randomInt(SEEDS)))
  .addOption(whole('--requests <number>', 'mutated requests to send', 1e9).default(1e6))
  .addOption(whole('--connections <number>', 'simultaneous connections', 1000).default(64))
  .addOption(
    whole('--workers <number>', 'threads', 64).default(Math.min(2, availableParallelism())),
  )
  .addOption(whole('--connection <number>', 'replay a single connection', SEEDS))
  .argument('[arguments...]', 'of the service, after --')
  .parse()

const { seed, requests, connections, workers, connection } = program.opts<Options>()
const folder = mkdtempSync(join(tmpdir(), 'plant-store-fuzz-'))
const endings: (() => unknown)[] = []
const owner = { teardown: (end: () => unknown) => void endings.push(end) }
try {
  const database = join(folder, 'plants.db')
  const target = await Target.start(owner, database, [...ARGS, ...program.args])
  if (connection !== undefined) await replay(target.port, seed, connection)
  else await fuzz(target)
} finally {
  for (const end of endings) await end()
  rmSync(folder, { recursive: true })
}

async function fuzz(target: Target): Promise<void> {
  console.log(`seed ${seed}, ${requests} requests, ${connections} connections at a time`)
  const begun = performance.now()
  const monitor = new Monitor(target)
  const witness = new Witness(target.port)
  const progress: number[] = []
  const ticker = setInterval(() => {
    const sent = progress.reduce((sum, part) => sum + part, 0)
    const seconds = Math.round((performance.now() - begun) / 1000)
    console.log(`${seconds} s: ${sent} requests, ${monitor.memory} MiB at most`)
  }, 30_000)
  const shares = Array.from({ length: workers }, (_, index) =>
    runShare(
      {
        port: target.port,
        seed,
        first: index,
        step: workers,
        requests: Math.ceil(requests / workers),
        concurrency: Math.ceil(connections / workers),
      },
      (mutated) => {
        progress[index] = mutated
      },
    ),
  )
  const gone = target.command.finished().then(({ code, stderr }) => {
    const end = code ?? target.command.process.signalCode
    const most = `${monitor.memory} MiB at most`
    throw new Error(`seed ${seed}: the service ended with ${end}, ${most}: ${stderr.slice(-3000)}`)
  })
  // A stop at the end is not a failure.
  gone.catch(() => {})
  const report = sumOf(await Promise.race([Promise.all(shares), gone]))
  clearInterval(ticker)
  const isAlive = await witness.answered()
  await witness.stop()
  monitor.stop()
  const stop = await target.stop(STOP_MS)
  const acknowledged = new Map([...witness.acknowledged, ...report.kept])
  const missing = missingFrom(target.database, acknowledged)
  const problems = [
    ...describeFindings(report.findings, seed),
    ...witness.faults.map((fault) => `a well-behaved client got: ${fault}`),
    ...target.loggedErrors().map((line) => `logged: ${line}`),
    ...(missing.length > 0
      ? [`${missing.length} plants are missing: ${missing.slice(0, 20)}`]
      : []),
    ...(isAlive ? [] : ['the process does not respond']),
    ...(stop.end === 0 ? [] : [`the process ended with ${stop.end} after ${stop.ms} ms`]),
    ...(monitor.memory <= MEMORY_MAX
      ? []
      : [`${monitor.memory} MiB exceed the limit of ${MEMORY_MAX}`]),
  ]
  const seconds = Math.round((performance.now() - begun) / 1000)
  const { p50, p99, max } = witness.latency()
  console.log(
    [
      `${report.mutated} mutated requests of ${report.requests} on ${report.connections} connections in ${seconds} s`,
      `responses: ${JSON.stringify(report.statuses)}, ${report.resets} connections reset`,
      `${acknowledged.size} acknowledged plants checked`,
      `memory: ${monitor.memory} MiB at most, ${monitor.descriptors} descriptors`,
      `/health/live: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, max ${max.toFixed(0)} ms`,
      `stopped with ${stop.end} in ${stop.ms} ms`,
      ...problems,
      problems.length === 0 ? 'nothing found' : `${problems.length} kinds of problems`,
    ].join('\n'),
  )
  if (problems.length > 0) process.exitCode = 1
}

function runShare(options: CampaignOptions, onProgress: (mutated: number) => void) {
  return new Promise<Report>((resolve, reject) => {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: options })
    worker.on('error', reject)
    worker.on('message', ({ mutated, report }: { mutated?: number; report?: Report }) => {
      if (mutated !== undefined) onProgress(mutated)
      if (report !== undefined) resolve(report)
    })
    endings.push(() => worker.terminate())
  })
}

function whole(flags: string, description: string, max: number): Option {
  return new Option(flags, description).argParser(argument(integer(0, max)))
}
