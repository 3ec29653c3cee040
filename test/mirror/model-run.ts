import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Test } from 'tap'
import type { StoredPlant } from '../../service/plant-store.ts'
import { openStore } from '../../src/stores/engines.ts'
import type { Store } from '../../src/stores/shared/store.ts'
import { importPlants } from '../../src/transfer/import.ts'
import { freePort, type PostgresServer, startPostgres } from '../../tools/postgres/server.ts'
import { inMemory, makeFolder } from '../../tools/temporary-folders.ts'
import { logged } from '../helpers/client.ts'
import { Command, type Finished, run } from '../helpers/command.ts'
import { until } from '../helpers/until.ts'
import { type Kind, Load } from '../load/load.ts'
import { TOKEN } from '../load/requests.ts'
import { latest } from '../stores/changes.ts'
import { exported, scatteredIds } from '../stores/plants.ts'
import { CuttingProxy } from './cutting-proxy.ts'
import { SmallDisk } from './small-disk.ts'

export type EngineName = 'SQLite' | 'PostgreSQL'

export type Engines = Readonly<Record<'source' | 'mirror', EngineName>>

const CLIENTS = 16

/** Almost as many plants are removed as created, so that a copy does not take longer and longer. */
const KINDS: readonly Kind[] = [
  ...(['create', 'create', 'batch', 'replay', 'contest', 'read'] as const),
  ...(['update', 'update', 'update', 'update'] as const),
  ...(['removal', 'removal', 'removal', 'removal', 'removal', 'removal'] as const),
]

/** The longest pause of a client, in milliseconds. Without it, clients would need most of the processor time. */
const PAUSE_MS_MAX = 20

/** The most data until a fault, in chunks from the source: a few pages. */
const CHUNKS_MAX = 15

/**
 * The longest time from data to a fault, in milliseconds. The mirror parses and commits the data within this time, which
 * nothing outside shows, so a random moment can be before, during or after the commit.
 */
const COMMIT_MS_MAX = 30

/** The most connections that are refused after a cut. */
const REFUSALS_MAX = 2

/** What a mirror reports while its database fails. */
const FAILING = 'the store is failing'

interface Setting {
  readonly databases: Readonly<Record<'source' | 'mirror', string>>
  /** The port of the source. */
  readonly port: number
  /** The disk of the mirror. */
  readonly disk: SmallDisk
  /** Undefined if no database is on it. */
  readonly server: PostgresServer | undefined
}

/** A source that clients change, its mirror, and the faults of both. */
export class ModelRun {
  /** How often each fault has occurred. */
  readonly counts = { sourceKills: 0, mirrorKills: 0, fullDisks: 0, crashes: 0, restarts: 0 }
  readonly load: Load
  readonly proxy: CuttingProxy
  readonly setting: Setting
  /** The plants of the mirror when its log began. */
  plantsBefore: readonly StoredPlant[] = []
  readonly #t: Test
  #source: Command
  #mirror: Command

  private constructor(t: Test, setting: Setting, source: Command, proxy: CuttingProxy) {
    this.#t = t
    this.setting = setting
    this.proxy = proxy
    this.#source = source
    this.#mirror = this.#startMirror()
    const options = { clients: CLIENTS, kinds: KINDS, pauseMsMax: PAUSE_MS_MAX }
    this.load = new Load([`http://127.0.0.1:${setting.port}`], options)
  }

  /** @param count of the plants that the source has at first */
  static async start(t: Test, engines: Engines, count: number): Promise<ModelRun> {
    const setting = await prepare(t, engines)
    const plants = scatteredIds(count).map((id) => ({ id, name: `plant ${id}` }))
    await withStore(setting.databases.source, (store) => importPlants(store, plants, 'stop'))
    const source = await startSource(t, setting)
    const modelRun = new ModelRun(t, setting, source, await CuttingProxy.start(t, setting.port))
    for (const plant of plants) modelRun.load.history.answered({ kind: 'create', plant }, 200)
    return modelRun
  }

  /** Resolves at a random moment while the mirror copies or follows. */
  async someWork(): Promise<void> {
    await this.#whileMirroring(this.proxy.chunks(randomInt(1, CHUNKS_MAX)))
    await setTimeout(randomInt(COMMIT_MS_MAX))
  }

  async cut(): Promise<void> {
    await this.#whileMirroring(this.proxy.cut(randomInt(REFUSALS_MAX + 1)))
  }

  async killSource(): Promise<void> {
    this.counts.sourceKills += 1
    await this.#kill(this.#source)
    this.#source = await startSource(this.#t, this.setting)
  }

  async killMirror(): Promise<void> {
    await this.#endMirror()
    this.#mirror = this.#startMirror()
  }

  /** Kills the mirror while its disk is full, or after it has continued. */
  async fillDisk(): Promise<void> {
    const { disk } = this.setting
    this.counts.fullDisks += 1
    disk.fill()
    await this.#whileMirroring(logged(this.#mirror, FAILING))
    if (randomInt(2) === 0) {
      disk.makeRoom()
      await this.someWork()
    }
    await this.#endMirror()
    disk.makeRoom()
    this.#mirror = this.#startMirror()
  }

  /** Crashes the PostgreSQL server. */
  async crashServer(): Promise<void> {
    this.counts.crashes += 1
    await this.setting.server?.crash()
    await this.setting.server?.start()
  }

  /** Compares the mirror once it has caught up, then makes it copy all plants again. */
  async restartMirror(): Promise<void> {
    this.counts.restarts += 1
    await this.#mirror.says(/caught up/)
    await this.#endMirror()
    this.#succeeded(await this.#run('compare'), /^equal/)
    // The mirror will not read the changes that are made meanwhile.
    await this.load.creates(50)
    const end = await this.withMirror(async (store) => {
      this.plantsBefore = await exported(store)
      return latest(store)
    })
    this.#mirror = this.#startMirror('--restart')
    const isRestarted = () =>
      this.withMirror(
        async (store) => (await store.readChanges({ after: end, limit: 1 })) === 'expired',
      )
    await this.#whileMirroring(until('the feed of the mirror has begun again', isRestarted))
  }

  /** Lets the mirror catch up after the load, and compares it. */
  async catchUp(): Promise<void> {
    await this.#endMirror()
    this.#succeeded(await this.#run('mirror', '--once'), /^caught up/)
    this.#succeeded(await this.#run('compare'), /^equal: [\d,]+ plants, [^;]*$/)
  }

  withMirror<Result>(use: (store: Store) => Promise<Result>): Promise<Result> {
    return withStore(this.setting.databases.mirror, use)
  }

  #startMirror(...options: string[]): Command {
    return new Command(this.#t, ...this.#commandLine('mirror', ...options))
  }

  #run(command: string, ...options: string[]): Promise<Finished> {
    return run(this.#t, ...this.#commandLine(command, ...options))
  }

  #commandLine(command: string, ...options: string[]) {
    const args = [command, this.proxy.url, '--database', this.setting.databases.mirror, ...options]
    return [args, { env: { PLANT_STORE_MIRROR_TOKEN: TOKEN } }] as const
  }

  #succeeded({ code, stdout, stderr }: Finished, pattern: RegExp): void {
    this.#t.match({ code, stdout }, { code: 0, stdout: pattern }, stderr)
  }

  /** Rejects if the mirror ends first. None of the faults is a reason for that. */
  async #whileMirroring(event: Promise<unknown>): Promise<void> {
    const end = this.#mirror.finished().then(({ code, stderr }) => {
      throw new Error(`the mirror has ended with ${code}: ${stderr}`)
    })
    await Promise.race([event, end])
  }

  async #endMirror(): Promise<void> {
    this.counts.mirrorKills += 1
    await this.#kill(this.#mirror)
  }

  async #kill(command: Command): Promise<void> {
    command.process.kill('SIGKILL')
    const { code, stderr } = await command.finished()
    this.#t.equal(command.process.signalCode, 'SIGKILL', `${code} ${stderr}`)
  }
}

/** Resolves once the databases exist. The mirror's is empty. */
async function prepare(t: Test, engines: Engines): Promise<Setting> {
  const disk = new SmallDisk(t)
  const folder = makeFolder(t, inMemory())
  const databases = {
    source: join(folder, 'source.db'),
    mirror: join(disk.folder, 'mirror.db'),
  }
  const port = await freePort()
  if (!Object.values(engines).includes('PostgreSQL')) {
    return { databases, port, disk, server: undefined }
  }
  const { server } = await startPostgres(t)
  if (engines.source === 'PostgreSQL') databases.source = await server.database('source')
  if (engines.mirror === 'PostgreSQL') {
    await server.query(`CREATE TABLESPACE small LOCATION '${disk.folder}'`)
    await server.query('CREATE DATABASE mirror TABLESPACE small')
    databases.mirror = server.url('mirror')
  }
  return { databases, port, disk, server }
}

async function startSource(t: Test, { port, databases }: Setting): Promise<Command> {
  const args = ['--port', String(port), '--database', databases.source]
  const source = new Command(t, args, { env: { PLANT_STORE_TOKEN: TOKEN } })
  await source.listening()
  return source
}

/** Opens a database in this process for a moment. */
async function withStore<Result>(
  database: string,
  use: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = await openStore({ database, lockTimeout: 30_000, sameThread: true })
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}
