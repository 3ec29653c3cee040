import { Agent } from 'node:http'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type MirrorRestriction, readRestriction } from '../../../service/restriction.ts'
import type { StoredPlant } from '../../../service/store/plant-store.ts'
import { openStore } from '../../../src/stores/engines.ts'
import type { Store } from '../../../src/stores/shared/store.ts'
import { checkDatabase } from '../../../src/stores/sqlite/check/sqlite-check.ts'
import { Command, type Owner, run } from '../../helpers/processes/command.ts'
import { until } from '../../helpers/processes/until.ts'
import { exported } from '../../stores/plants.ts'
import { exchange, TOKEN } from '../load/exchange.ts'

/** An id that clients never use. */
const NO_PLANT = 1000

/** The database of a service on SQLite. */
export function databaseIn(folder: string): string {
  return join(folder, 'plants.db')
}

/** A service in a process of its own, which can be started again on the same database. */
export class Service {
  readonly database: string
  url = ''
  readonly #owner: Owner
  #command: Command | undefined

  constructor(owner: Owner, database: string) {
    this.#owner = owner
    this.database = database
  }

  readonly urls = (): readonly string[] => [this.url]

  /** @param args further arguments of the service */
  async start(...args: readonly string[]): Promise<this> {
    const common = ['--port=0', '--allow-private-webhooks', '--database', this.database]
    this.#command = new Command(this.#owner, [...common, ...args], {
      env: { PLANT_STORE_TOKEN: TOKEN },
    })
    this.url = await this.#command.listening()
    return this
  }

  /** Ends the process with a signal, and resolves once it is gone. */
  async stop(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    this.#command?.process.kill(signal)
    await this.#command?.finished()
  }

  /** @throws Error if `plant-store check` finds a fault */
  check(): void {
    const findings = [...checkDatabase({ file: this.database, lockTimeout: 60_000 })]
    const faults = findings.filter(({ status }) => status === 'fault')
    if (faults.length > 0) {
      throw new Error(faults.map(({ subject, message }) => `${subject}: ${message}`).join('\n'))
    }
  }
}

/** Resolves once a service that has begun as a mirror accepts changes. */
export async function acceptsChanges({ url }: Service): Promise<void> {
  const agent = new Agent()
  await until('the new service accepts changes', async () => {
    const answer = await exchange(agent, url, { method: 'DELETE', path: `/plants/${NO_PLANT}` })
    return typeof answer === 'object' && answer.status === 404
  })
}

/** Runs a command of `plant-store`, and resolves to its output. Rejects if it fails. */
export async function plantStore(owner: Owner, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(owner, args, {
    env: { PLANT_STORE_MIRROR_TOKEN: TOKEN },
  })
  if (code !== 0) throw new Error(`plant-store ${args.join(' ')}: ${stdout}${stderr}`)
  return stdout
}

/** A mirror as it is stored. */
export interface StoredMirror {
  readonly restriction: MirrorRestriction
  readonly plants: readonly StoredPlant[]
}

/** Reads a mirror that was killed. Its last step can still be under way in a PostgreSQL server. */
export function readMirror(database: string): Promise<StoredMirror> {
  return withStore(database, async (store) => {
    for (;;) {
      const restriction = (await readRestriction(store)) as MirrorRestriction
      const plants = await exported(store)
      if (isDeepStrictEqual(restriction, await readRestriction(store)))
        return { restriction, plants }
    }
  })
}

/** Opens a database in this process for a moment. */
export async function withStore<Result>(
  database: string,
  use: (store: Store) => Promise<Result>,
): Promise<Result> {
  const options = { lockTimeout: 30_000, sameThread: true, readsIncomplete: true }
  const store = await openStore({ database, ...options })
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}
