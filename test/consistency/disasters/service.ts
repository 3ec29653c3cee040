import { join } from 'node:path'
import { checkDatabase } from '../../../src/stores/sqlite/check/sqlite-check.ts'
import { Command, type Owner } from '../../helpers/command.ts'
import { TOKEN } from '../load/exchange.ts'

/** A service in a process of its own, which can be started again on the same database. */
export class ServiceProcess {
  url = ''
  readonly #owner: Owner
  readonly #database: string
  #command: Command | undefined

  constructor(owner: Owner, database: string) {
    this.#owner = owner
    this.#database = database
  }

  readonly urls = (): readonly string[] => [this.url]

  /** @param args further arguments of the service */
  async start(...args: readonly string[]): Promise<this> {
    this.#command = new Command(this.#owner, ['--port=0', '--database', this.#database, ...args], {
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
}

/** A service on an SQLite file. */
export class Service extends ServiceProcess {
  readonly file: string

  constructor(owner: Owner, folder: string) {
    const file = join(folder, 'plants.db')
    super(owner, file)
    this.file = file
  }

  /** @throws Error if `plant-store check` finds a fault */
  check(): void {
    const findings = [...checkDatabase({ file: this.file, lockTimeout: 5000 })]
    const faults = findings.filter(({ status }) => status === 'fault')
    if (faults.length > 0) {
      throw new Error(faults.map(({ subject, message }) => `${subject}: ${message}`).join('\n'))
    }
  }
}
