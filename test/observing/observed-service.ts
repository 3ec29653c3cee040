/** Services with metrics, and requests that change them. */
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { inMemory, makeFolder } from '../../tools/tap/temporary-folders.ts'
import { Command, type Owner, run } from '../helpers/processes/command.ts'
import { sharedPostgres } from '../helpers/service/shared-postgres.ts'

const TOKEN = 'sixteen-letters.'

/** Room for batches that fill SQLite's log quickly. */
const BODY_LIMIT = 2 ** 24

interface Launched {
  readonly command: Command
  readonly url: string
  readonly target: string
}

/** The command in a process of its own, with an admin port. */
export class ObservedService {
  /** The host and port that serve the metrics. */
  readonly target: string
  readonly #url: string
  readonly #command: Command
  #id = 0

  protected constructor({ command, url, target }: Launched) {
    this.#command = command
    this.#url = url
    this.target = target
  }

  protected static async launch(
    t: Owner,
    database: string,
    ...args: readonly string[]
  ): Promise<Launched> {
    const command = new Command(
      t,
      [
        ...['--port', '0', '--admin-port', '0', '--threads', '2'],
        ...['--body-limit', `${BODY_LIMIT}`, '--ready-json', '--log-level', 'silent'],
        ...args,
      ],
      {
        env: { PLANT_STORE_DATABASE: database, PLANT_STORE_TOKEN: TOKEN },
        // Makes garbage collection frequent, because its metric has no labels before the first one.
        node: ['--max-semi-space-size=1'],
      },
    )
    const [line] = await command.says(/.*\n/)
    const { url, adminUrl } = JSON.parse(line)
    await addWebhook(t, database)
    return { command, url, target: new URL(adminUrl).host }
  }

  /** Resolves once the process has ended. */
  async stop(): Promise<void> {
    this.#command.process.kill('SIGTERM')
    await this.#command.finished()
  }

  /** The response to `GET /metrics`. */
  async metrics(): Promise<string> {
    return (await fetch(`http://${this.target}/metrics`)).text()
  }

  /** Sends a few requests, some of which fail. */
  async useOnce(): Promise<void> {
    await this.send('POST', '/plants', { id: this.#id++, name: 'Abies alba Mill.' })
    await this.send('GET', '/plants/0')
    await this.send('GET', '/plants')
    await this.send('GET', '/plants/0', undefined, 'an-invalid-token')
    await this.send('GET', '/unknown')
  }

  /** Sends a request with JSON, and resolves to the status of the response. */
  protected async send(
    method: string,
    path: string,
    body?: unknown,
    token = TOKEN,
  ): Promise<number> {
    const response = await fetch(this.#url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    await response.arrayBuffer()
    return response.status
  }
}

/** Adds a webhook, so that its metrics have values. The service refuses to deliver to a private address. */
async function addWebhook(t: Owner, database: string): Promise<void> {
  const { code, stderr } = await run(
    t,
    [
      ...['webhook', 'add', '--name', 'orders', '--events', 'newPlant'],
      ...['--url', 'https://127.0.0.1:1', '--allow-private-webhooks'],
    ],
    { env: { PLANT_STORE_DATABASE: database } },
  )
  if (code !== 0) throw new Error(stderr)
}

export class PostgresService extends ObservedService {
  static async start(t: Owner): Promise<PostgresService> {
    const { emptyDatabase } = await sharedPostgres()
    return new PostgresService(await ObservedService.launch(t, await emptyDatabase()))
  }
}

export class SqliteService extends ObservedService {
  readonly #database: string

  private constructor(launched: Launched, database: string) {
    super(launched)
    this.#database = database
  }

  static async start(t: Owner): Promise<SqliteService> {
    const database = join(makeFolder(t, inMemory()), 'plants.db')
    const launched = await ObservedService.launch(t, database, '--lock-timeout', '500ms')
    return new SqliteService(launched, database)
  }

  /** Also sends a request that gets 503, because the database is locked. */
  override async useOnce(): Promise<void> {
    await super.useOnce()
    const other = new Sqlite(this.#database)
    try {
      other.exec('BEGIN IMMEDIATE')
      await this.send('POST', '/plants', { id: -1, name: 'Abies alba Mill.' })
    } finally {
      other.close()
    }
  }

  /** Writes so much that the log is written back into the database. */
  async causeCheckpoint(): Promise<void> {
    const name = 'x'.repeat(12_000)
    for (let batch = 1; batch <= 16; batch++) {
      const first = batch * -500
      const plants = Array.from({ length: 500 }, (_, index) => ({ id: first - index, name }))
      const status = await this.send('POST', '/plants/batch', plants)
      if (status !== 200) throw new Error(`a batch got ${status}`)
    }
  }
}
