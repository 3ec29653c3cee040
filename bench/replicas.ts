import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PostgresStore } from '../src/stores/postgres/postgres-store.ts'
import type { PostgresServer } from '../tools/postgres/server.ts'
import type { Generate, WarmLoad } from './load.ts'
import { type Run, type Setup, serveLoad } from './measure.ts'
import { makePlant } from './requests.ts'
import { fillStore } from './stores.ts'
import { bareCommand, serviceCommand, startServer } from './subjects.ts'

interface Described {
  /** Description in the chart. */
  readonly title: string
  readonly color: string
  /** Number of processes that share the database. */
  readonly replicas: number
  /** Creates the schema and stores plants, unless the server does so itself. */
  readonly fill?: (url: string, stored: number) => Promise<void>
  /** Arguments to Node that start the server on a database. */
  readonly command: (url: string, stored: number) => string[]
}

export type ReplicasName = 'insert each' | '1 replica' | '2 replicas' | '4 replicas'

/** The subjects of the benchmark on PostgreSQL. */
export const REPLICAS: Record<ReplicasName, Described> = {
  'insert each': {
    title: 'an INSERT for each request',
    color: '#d9774b',
    replicas: 1,
    command: bareCommand('postgres'),
  },
  '1 replica': { title: 'one process of this service', color: '#2f855a', ...replicasOf(1) },
  '2 replicas': { title: 'two', color: '#4a6fa5', ...replicasOf(2) },
  '4 replicas': { title: 'four', color: '#7a5ea8', ...replicasOf(4) },
}

export const ALL_REPLICAS = Object.keys(REPLICAS) as ReplicasName[]

function replicasOf(count: number) {
  return { replicas: count, fill, command: serviceCommand }
}

async function fill(url: string, stored: number): Promise<void> {
  const store = await PostgresStore.open({ url, timeout: 60_000 })
  await fillStore(store, stored, (index) => makePlant(BigInt(index + 1)))
}

/**
 * Measures a subject, or a number of replicas, on its own database.
 *
 * @param flags additional arguments of each process
 * @throws Error if the subject gives wrong responses or has lost plants
 */
export async function measureReplicas(
  subject: ReplicasName | number,
  server: PostgresServer,
  load: WarmLoad,
  generate: Generate,
  { flags = [], limit }: { readonly flags?: readonly string[] } & Pick<Setup, 'limit'> = {},
): Promise<Run> {
  const { replicas, fill, command } =
    typeof subject === 'number' ? replicasOf(subject) : REPLICAS[subject]
  const folder = await mkdtemp(join(tmpdir(), 'plant-store-replicas-'))
  const url = await server.database('bench')
  try {
    await fill?.(url, load.stored)
    // Otherwise it would run during the measurement.
    await server.query('CHECKPOINT')
    const starts = Array.from({ length: replicas }, (_, index) => () => {
      return startServer([...command(url, load.stored), ...flags], join(folder, `${index}.log`))
    })
    const setup = { database: server.pid, limit }
    const { run, stored } = await serveLoad(starts, load, generate, setup)
    await checkStored(server, stored)
    return run
  } catch (error) {
    throw new Error(`${subject}, ${load.kind}: ${(error as Error).message}`, { cause: error })
  } finally {
    await server.query('DROP DATABASE bench WITH (FORCE)')
    await rm(folder, { recursive: true })
  }
}

/** The counterpart of `checkStored` in `answers.ts`. */
async function checkStored(server: PostgresServer, least: number): Promise<void> {
  const [row] = await server.query<{ count: string }>('SELECT count(*) FROM plants', 'bench')
  if (Number(row?.count) >= least) return
  throw new Error(`${row?.count} plants are stored, but ${least} were acknowledged`)
}
