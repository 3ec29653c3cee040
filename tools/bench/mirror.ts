/**
 * `npm run bench:mirror`: measures how long a mirror takes to copy a service, how far it is behind at several rates of
 * creates, and what that costs the service. README.md explains the figures.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { Command } from 'commander'
import pg from 'pg'
import { known } from '../../core/known.ts'
import { PostgresServer } from '../postgres/postgres-server.ts'
import { count, quantile } from './figures/statistics.ts'
import { findGenerator } from './load/generators.ts'
import { FIRST_ID, makePlant, requestsOf } from './load/request-kinds.ts'
import { watchThreads } from './processor-time.ts'
import { createToken, fillDatabase, type Server, startServer } from './servers/servers.ts'
import { OWN_PROGRAM, serviceCommand } from './servers/subjects.ts'

const CONNECTIONS = 64
const READERS = 16

/** How often creates are sent, and how often the mirror is asked what it has. */
const TICK_MS = 10
const POLL_MS = 5

interface Options {
  readonly to: 'sqlite' | 'postgres'
  readonly stored: number
  readonly seconds: number
  readonly rates: readonly string[]
  readonly read: boolean
}

const options = new Command('bench:mirror')
  .option('--to <engine>', 'the engine of the mirror: sqlite or postgres', 'sqlite')
  .option('--stored <plants>', 'how many plants to copy', Number, 1_000_000)
  .option('--seconds <seconds>', 'duration of each rate', Number, 10)
  .option('--rates <rates...>', 'creates per second', ['1000', '5000', '20000'])
  .option('--read', 'read from a service on the mirror at the same time', false)
  .parse()
  .opts<Options>()

await using teardowns = new AsyncDisposableStack()
const teardown = (work: () => unknown) => teardowns.defer(async () => void (await work()))
const folder = await mkdtemp(join(tmpdir(), 'plants-'))
teardown(() => rm(folder, { recursive: true }))

const database = join(folder, 'plants.db')
await fillDatabase(OWN_PROGRAM, database, options.stored)
const readToken = () => readFileSync(join(folder, 'access-token'), 'utf8').trim()
const source = await startServer(
  serviceCommand(OWN_PROGRAM, database),
  join(folder, 'log'),
  readToken,
)
teardown(() => source.stop())
const mirror = await prepareMirror()

const begin = performance.now()
await runMirror('--once')
const seconds = (performance.now() - begin) / 1000
console.log(`copied ${count(options.stored)} plants in ${seconds.toFixed(1)} s`)

const replica = options.read ? await startReplica() : undefined

/** When each create was acknowledged, by its id. */
const acknowledged = new Map<number, number>()
let next = FIRST_ID + options.stored
for (const rate of options.rates.map(Number)) {
  const alone = await load(rate)
  await runMirror('--once')
  const running = startMirror()
  await once(createInterface(known(running.stdout)), 'line')
  const [followed, lags] = await Promise.all([load(rate), watchLag(next), readMirror()])
  running.kill('SIGTERM')
  await once(running, 'exit')
  console.log(
    `${count(followed.perSecond)} creates/s: lag p50 ${ms(lags, 0.5)}, p99 ${ms(lags, 0.99)}, max ${ms(lags, 1)}; ` +
      `p99 of creates ${ms(followed.durations, 0.99)} (${ms(alone.durations, 0.99)} without the mirror), ` +
      `${followed.cpuUs.toFixed(1)} µs each (${alone.cpuUs.toFixed(1)})`,
  )
}

/** Sends creates at a rate, as long as connections are free. */
async function load(rate: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const durations: number[] = []
  const report = watchThreads([source.pid])
  const from = next
  const start = performance.now()
  let busy = 0
  const end = start + 1000 * options.seconds
  while (performance.now() < end) {
    const due = from + Math.floor(((performance.now() - start) / 1000) * rate)
    while (next < due && busy < CONNECTIONS) {
      busy += 1
      create(agent, next++, durations).finally(() => {
        busy -= 1
      })
    }
    await setTimeout(busy === CONNECTIONS ? 1 : TICK_MS)
  }
  while (busy > 0) await setTimeout(TICK_MS)
  agent.destroy()
  const { cpuUs } = report(durations.length)
  return { durations, cpuUs, perSecond: durations.length / options.seconds }
}

async function create(agent: Agent, id: number, durations: number[]): Promise<void> {
  const begin = performance.now()
  const headers = { authorization: `Bearer ${source.token}`, 'content-type': 'application/json' }
  const sent = request(`${source.url}/plants`, { method: 'POST', agent, headers })
  sent.end(JSON.stringify(makePlant(id)))
  const [response] = await once(sent, 'response')
  response.resume()
  await once(response, 'end')
  if (response.statusCode !== 200) throw new Error(`create: status ${response.statusCode}`)
  const now = performance.now()
  durations.push(now - begin)
  acknowledged.set(id, now)
}

/** Resolves to how long after its acknowledgment the mirror had each plant. */
async function watchLag(from: number): Promise<number[]> {
  const lags: number[] = []
  const missing = new Set<number>()
  let last = from - 1
  const end = performance.now() + 1000 * (options.seconds + 5)
  while (performance.now() < end) {
    const lowest = missing.values().next().value ?? last + 1
    for (const id of await mirror.idsFrom(Math.min(lowest, last + 1))) {
      for (let skipped = last + 1; skipped < id; skipped++) missing.add(skipped)
      if (id <= last && !missing.delete(id)) continue
      last = Math.max(last, id)
      const at = acknowledged.get(id)
      // The mirror can have a plant before the response arrives here.
      lags.push(Math.max(0, performance.now() - (at ?? performance.now())))
    }
    await setTimeout(POLL_MS)
  }
  return lags
}

/** Starts a service on the mirror. */
async function startReplica(): Promise<Server> {
  const token = await createToken(OWN_PROGRAM, mirror.database)
  const command = serviceCommand(OWN_PROGRAM, mirror.database)
  const server = await startServer(command, join(folder, 'replica-log'), () => token)
  teardown(() => server.stop())
  return server
}

/** Reads from the service on the mirror as fast as it responds. */
async function readMirror(): Promise<void> {
  if (replica === undefined) return
  const { generate } = await findGenerator()
  const { perSecond } = await generate(replica, {
    requests: requestsOf('read'),
    connections: READERS,
    seconds: options.seconds,
    first: FIRST_ID,
    stored: options.stored,
  })
  console.log(`${count(perSecond)} reads/s from the mirror:`)
}

interface Mirror {
  readonly database: string
  /** The ids of plants from an id on. */
  idsFrom(id: number): Promise<number[]>
}

async function prepareMirror(): Promise<Mirror> {
  if (options.to === 'sqlite') {
    const database = join(folder, 'mirror.db')
    let db: Sqlite.Database | undefined
    const select = 'SELECT id FROM plants WHERE id >= ? ORDER BY id'
    const open = () => {
      db ??= new Sqlite(database, { readonly: true })
      return db
    }
    teardown(() => db?.close())
    return {
      database,
      idsFrom: async (id) => open().prepare<[number], number>(select).pluck().all(id),
    }
  }
  const server = await PostgresServer.make({ teardown }, tmpdir())
  await server.start({ shared_buffers: '128MB', max_connections: '100' })
  const database = await server.database('mirror')
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  teardown(() => client.end())
  const idsFrom = async (id: number) => {
    const { rows } = await client.query('SELECT id FROM plants WHERE id >= $1 ORDER BY id', [id])
    return rows.map((row) => Number(row.id))
  }
  return { database, idsFrom }
}

function startMirror(...flags: string[]): ChildProcess {
  const command = [OWN_PROGRAM, 'mirror', source.url, '--database', mirror.database, ...flags]
  return spawn(process.execPath, command, {
    env: { ...process.env, PLANT_STORE_MIRROR_TOKEN: source.token },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

async function runMirror(...flags: string[]): Promise<void> {
  const child = startMirror(...flags)
  child.stdout?.resume()
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`the mirror ended with exit code ${code}`)
}

function ms(durations: readonly number[], share: number): string {
  return `${Math.round(quantile(durations, share))} ms`
}
