import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PostgresServer } from '../../postgres/postgres-server.ts'
import { createToken, fillDatabase, type Server, startServer } from './servers.ts'
import { OWN_PROGRAM, type Running, serviceCommand } from './subjects.ts'

interface Replicas {
  readonly count: number
  readonly stored: number
  /** Arguments of each. */
  readonly flags?: readonly string[]
}

/** A PostgreSQL server with a database for each start of a subject. */
export class PostgresDatabases {
  readonly #server: PostgresServer
  #count = 0

  private constructor(server: PostgresServer) {
    this.#server = server
  }

  /** @param teardowns stops the server when it is disposed */
  static async start(teardowns: AsyncDisposableStack): Promise<PostgresDatabases> {
    const teardown = (work: () => unknown) => teardowns.defer(async () => void (await work()))
    const server = await PostgresServer.make({ teardown }, tmpdir())
    // The tests override PostgreSQL's default buffers, and all subjects run at once.
    await server.start({ shared_buffers: '128MB', max_connections: '400' })
    return new PostgresDatabases(server)
  }

  /** Creates a database and starts replicas of the service on it. */
  async startReplicas({ count, stored, flags = [] }: Replicas, folder: string): Promise<Running> {
    const { name, url } = await this.create()
    await fillDatabase(OWN_PROGRAM, url, stored)
    const token = await createToken(OWN_PROGRAM, url)
    const command = [...serviceCommand(OWN_PROGRAM, url), ...flags]
    const servers: Server[] = []
    for (let replica = 0; replica < count; replica++) {
      servers.push(await startServer(command, join(folder, `${replica}.log`), () => token))
    }
    return this.runOn(name, servers)
  }

  /** Creates an empty database. */
  async create(): Promise<{ name: string; url: string }> {
    const name = `bench_${this.#count++}`
    return { name, url: await this.#server.database(name) }
  }

  /** Describes servers that run on a database, which is dropped when they stop. */
  async runOn(name: string, servers: readonly Server[]): Promise<Running> {
    // Otherwise it would run during the measurement.
    await this.#server.query('CHECKPOINT')
    return {
      servers,
      database: this.#server.pid,
      count: async () => {
        const count = 'SELECT count(*) FROM plants'
        const rows = await this.#server.query<{ count: string }>(count, name)
        return Number(rows[0]?.count)
      },
      stop: async () => void (await this.#server.query(`DROP DATABASE ${name} WITH (FORCE)`)),
    }
  }
}
