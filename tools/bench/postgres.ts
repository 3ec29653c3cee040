/**
 * `npm run bench:postgres`: compares replicas of the service on one PostgreSQL server with one INSERT per request, or
 * with `--limited` measures how replicas scale that are limited to a share of a core each. README.md explains the
 * figures.
 */
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Option } from 'commander'
import { PostgresServer } from '../postgres/postgres-server.ts'
import { benchmark, type Options as Common, parseNumbers } from './bench-options.ts'
import { percent } from './figures/statistics.ts'
import { runBenchmark } from './report.ts'
import { CORE_SHARE, limitTo, whyUnlimited } from './servers/cgroups.ts'
import { createToken, fillDatabase, type Server, startServer } from './servers/servers.ts'
import {
  OWN_PROGRAM,
  type Running,
  type Subject,
  serviceCommand,
  startBareServer,
} from './servers/subjects.ts'

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
const teardown = (work: () => unknown) => teardowns.defer(async () => void (await work()))
const postgres = await PostgresServer.make({ teardown }, tmpdir())
// The tests override PostgreSQL's default buffers, and all subjects run at once.
await postgres.start({ shared_buffers: '128MB', max_connections: '400' })
let databases = 0

const replicas = counts.map((count, index) => replicaSubject(count, index))
const variant = options.with === undefined ? [] : [replicaSubject(1, replicas.length, options.with)]
const insertEach: Subject = {
  name: 'insert each',
  title: 'an INSERT for each request',
  color: '#d9774b',
  stored: STORED,
  async start(folder) {
    const { name, url } = await createDatabase()
    return runOn(name, [await startBareServer('postgres', url, STORED, folder)])
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
    async start(folder) {
      const { name, url } = await createDatabase()
      await fillDatabase(OWN_PROGRAM, url, STORED)
      const token = await createToken(OWN_PROGRAM, url)
      const command = [...serviceCommand(OWN_PROGRAM, url), ...flags.split(' ').filter(Boolean)]
      const servers: Server[] = []
      for (let replica = 0; replica < count; replica++) {
        servers.push(await startServer(command, join(folder, `${replica}.log`), () => token))
      }
      return runOn(name, servers)
    },
  }
}

async function createDatabase(): Promise<{ name: string; url: string }> {
  const name = `bench_${databases++}`
  return { name, url: await postgres.database(name) }
}

async function runOn(name: string, servers: readonly Server[]): Promise<Running> {
  // Otherwise it would run during the measurement.
  await postgres.query('CHECKPOINT')
  return {
    servers,
    database: postgres.pid,
    async count() {
      const rows = await postgres.query<{ count: string }>('SELECT count(*) FROM plants', name)
      return Number(rows[0]?.count)
    },
    stop: async () => void (await postgres.query(`DROP DATABASE ${name} WITH (FORCE)`)),
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
