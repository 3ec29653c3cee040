import { Command, MAIN, type Owner } from '../../helpers/processes/command.ts'
import { logged } from '../../helpers/service/client.ts'
import { TOKEN } from '../load/exchange.ts'
import { plantStore } from './service.ts'

/** `plant-store mirror` in a process of its own, which can be started again on the same database. */
export class MirrorProcess {
  readonly #owner: Owner
  readonly #following: readonly string[]
  readonly #main: string
  #command: Command

  /**
   * Starts to mirror.
   *
   * @param main the program, by default that of this checkout
   */
  constructor(owner: Owner, source: string, database: string, main = MAIN) {
    this.#owner = owner
    this.#following = [source, '--database', database]
    this.#main = main
    this.#command = this.#start()
  }

  /** Resolves once the mirror has caught up for the first time since its start. */
  async caughtUp(): Promise<void> {
    await this.#command.says(/caught up/)
  }

  /** Resolves once the mirror has printed a message. */
  async says(message: string): Promise<void> {
    await this.whileRunning(logged(this.#command, message))
  }

  /** Rejects if the mirror ends before an event. */
  async whileRunning(event: Promise<unknown>): Promise<void> {
    const end = this.#command.finished().then(({ code, stderr }) => {
      throw new Error(`the mirror has ended with ${code}: ${stderr}`)
    })
    await Promise.race([event, end])
  }

  /** Kills the mirror. */
  async kill(): Promise<void> {
    this.#command.process.kill('SIGKILL')
    const { code, stderr } = await this.#command.finished()
    if (code !== null) throw new Error(`the mirror has ended with ${code}: ${stderr}`)
  }

  /** Starts the mirror that was killed. */
  continue(...options: readonly string[]): void {
    this.#command = this.#start(...options)
  }

  /** Stops the mirror, and makes it apply the last changes of a source that has no more. */
  async finish(): Promise<void> {
    await this.kill()
    const { code, stdout, stderr } = await this.#start('--once').finished()
    if (code !== 0) throw new Error(`the mirror has ended with ${code}: ${stdout}${stderr}`)
  }

  /** Rejects unless the mirror and its source are equal. */
  async compare(): Promise<void> {
    await plantStore(this.#owner, 'compare', ...this.#following)
  }

  #start(...options: readonly string[]): Command {
    const env = { PLANT_STORE_MIRROR_TOKEN: TOKEN }
    return new Command(this.#owner, ['mirror', ...this.#following, ...options], {
      env,
      main: this.#main,
    })
  }
}
