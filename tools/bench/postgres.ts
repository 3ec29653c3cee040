/**
 * `npm run bench:postgres`: compares replicas of the service on one PostgreSQL server with one INSERT per request, or
 * with `--limited` measures how replicas scale that are limited to a share of a core each. README.md explains the
 * figures.
 */
import { availableParallelism } from 'node:os'
import { Option } from 'commander'
import { benchmark, type Options as Common, parseNumbers } from './bench-options.ts'
import { percent } from './figures/statistics.ts'
import { runBenchmark } from './report.ts'
import { CORE_SHARE, limitTo, whyUnlimited } from './servers/cgroups.ts'
import { PostgresDatabases } from './servers/postgres-databases.ts'
import type { Server } from './servers/servers.ts'
import { type Subject, startBareServer } from './servers/subjects.ts'

const STORED = 100_000
const REPLICAS = [1, 2, 4]
const LIMITED_REPLICAS = [1, 2, 4, 8]

/** From one replica to many. */
const COLORS = ['#2f855a', '#4a6fa5', '#7a5ea8', '#e8b84a']

/** The share of the machine for all replicas together. PostgreSQL and the load generators need most of the rest. */
const MACHINE_SHARE = 0.4

interface Options extends Common {
  readonly limited: boolean
  readonly replicas?: readonly number[]
  readonly with?: string
}

const options = benchmark('bench:postgres', 'measure replicas on a PostgreSQL server', {
  kinds: ['sequential', 'random', 'read'],
  seconds: 3,
  rounds: 3,
})
  .option('--limited', 'limit each replica to a share of a core, with --connections each', false)
  .addOption(
    new Option('--replicas <numbers...>', 'numbers of processes').argParser(parseNumbers()),
  )
  .option('--with <arguments>', 'compare one replica with one that has these arguments')
  .parse()
  .opts<Options>()
const { limited } = options
const counts = options.replicas ?? (limited ? LIMITED_REPLICAS : REPLICAS)
const unlimited = limited ? whyUnlimited() : undefined
if (unlimited !== undefined) {
  console.log(`replicas are not limited, so more do not help without cores: ${unlimited}`)
}

await using teardowns = new AsyncDisposableStack()
const databases = await PostgresDatabases.start(teardowns)

const replicas = counts.map((count, index) => replicaSubject(count, index))
const variant = options.with === undefined ? [] : [replicaSubject(1, replicas.length, options.with)]
const insertEach: Subject = {
  name: 'insert each',
  title: 'an INSERT for each request',
  color: '#d9774b',
  stored: STORED,
  async start(folder) {
    const { name, url } = await databases.create()
    return databases.runOn(name, [await startBareServer('postgres', url, STORED, folder)])
  },
}
const subjects = limited ? replicas : [insertEach, ...replicas, ...variant]
const share = chooseShare()
await runBenchmark({
  subjects,
  baselines: limited ? ['1 replica'] : ['insert each', '1 replica'],
  options,
  each: limited ? ' per replica' : '',
  conditions: limited
    ? [`replicas: ${unlimited === undefined ? `${percent(share)} of a core each` : 'unlimited'}`]
    : [],
  charts: {
    [limited ? 'postgres-scaling' : 'postgres']: {
      title: `Requests per second on PostgreSQL, and the ratio to ${limited ? 'one replica' : 'an INSERT for each request'}`,
      figure: 'perSecond',
      length: limited ? 'ratio' : 'figure',
    },
  },
})

function replicaSubject(count: number, index: number, flags = ''): Subject {
  const name = `${count} replica${count === 1 ? '' : 's'}`
  return {
    name: `${name} ${flags}`.trim(),
    title: `${name} ${flags}`.trim(),
    color: COLORS[index % COLORS.length] ?? '',
    stored: STORED,
    // Each replica has its own connections and compiles its own code.
    ...(limited ? { size: count, limit: limitEach } : {}),
    start(folder) {
      const all = { count, stored: STORED, flags: flags.split(' ').filter(Boolean) }
      return databases.startReplicas(all, folder)
    },
  }
}

/** Rounded down to a whole percentage, as it is printed. */
function chooseShare(): number {
  const percentage = (100 * availableParallelism() * MACHINE_SHARE) / Math.max(...counts)
  return Math.min(CORE_SHARE, Math.floor(percentage) / 100)
}

/** Limits each process, if this system can do that. */
function limitEach(servers: readonly Server[]): Disposable {
  using limits = new DisposableStack()
  if (unlimited === undefined) for (const { pid } of servers) limits.use(limitTo(share, { pid }))
  return limits.move()
}
