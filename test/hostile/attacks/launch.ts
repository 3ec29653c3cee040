import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Owner } from '../../helpers/processes/command.ts'
import type { Tally } from '../witness.ts'

const PROGRAM = fileURLToPath(new URL('./process.ts', import.meta.url))

export interface Outcome {
  /** Responses by status, or by error code where the connection failed. */
  readonly statuses: Tally
  /** Responses that are not HTTP or not documented. */
  readonly faults: readonly string[]
}

/** Runs attacks concurrently in a separate process, so that they do not delay the measurements. */
export function launch(owner: Owner, names: readonly string[], port: number, scale: number) {
  // Removes tap's loader, which would measure the coverage of this process.
  const { NODE_OPTIONS: _, ...env } = process.env
  const child = fork(PROGRAM, [String(port), String(scale), ...names], { env })
  const exit = once(child, 'exit')
  const running = {
    /** What has been read so far; renewed every second and at the end. */
    outcome: { statuses: {}, faults: [] } as Outcome,
    /** Resolves when everything is sent or the process ends. */
    done: new Promise<void>((resolve) => {
      exit.then(() => resolve())
      child.on('message', ({ isDone, ...outcome }: Outcome & { isDone: boolean }) => {
        running.outcome = outcome
        if (isDone) resolve()
      })
    }),
    /** Kills the process, which closes its connections. */
    end: async () => {
      child.kill('SIGKILL')
      await exit
    },
  }
  owner.teardown(running.end)
  return running
}
