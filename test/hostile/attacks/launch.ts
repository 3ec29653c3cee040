import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Tally } from '../witness.ts'

const PROGRAM = fileURLToPath(new URL('./process.ts', import.meta.url))

export interface Outcome {
  /** Responses by status, or by error code where the connection failed. */
  readonly statuses: Tally
  readonly faults: readonly string[]
}

export interface RunningAttack {
  /** Resolves when everything is sent or the process ends. */
  readonly done: Promise<void>
  /** What has been read so far; renewed every second and at the end. */
  readonly outcome: Outcome
  /** Kills the process, which closes its connections. */
  end(): Promise<void>
}

/** Runs attacks concurrently in a separate process. */
export function launch(names: readonly string[], port: number, scale: number): RunningAttack {
  // Removes tap's loader, which would measure the coverage of this process.
  const { NODE_OPTIONS: _, ...env } = process.env
  const child = fork(PROGRAM, [String(port), String(scale), ...names], { env })
  const exit = once(child, 'exit')
  let outcome: Outcome = { statuses: {}, faults: [] }
  const done = new Promise<void>((resolve) => {
    exit.then(() => resolve())
    child.on('message', (message: Outcome & { isDone: boolean }) => {
      outcome = message
      if (message.isDone) resolve()
    })
  })
  return {
    done,
    get outcome() {
      return outcome
    },
    end: async () => {
      child.kill('SIGKILL')
      await exit
    },
  }
}
