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
  /** Resolves when everything is sent, or to undefined if the process ends first. */
  readonly outcome: Promise<Outcome | undefined>
  /** Kills the process, which closes its connections. */
  end(): Promise<void>
}

/** Runs attacks concurrently in a separate process. */
export function launch(names: readonly string[], port: number, scale: number): RunningAttack {
  // Removes tap's loader, which would measure the coverage of this process.
  const { NODE_OPTIONS: _, ...env } = process.env
  const child = fork(PROGRAM, [String(port), String(scale), ...names], { env })
  const exit = once(child, 'exit')
  const outcome = Promise.race([
    once(child, 'message').then(([message]) => message as Outcome),
    exit.then(() => undefined),
  ])
  return {
    outcome,
    end: async () => {
      child.kill('SIGKILL')
      await exit
    },
  }
}
