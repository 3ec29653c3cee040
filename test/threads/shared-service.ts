/** One service with four HTTP threads for all test files of a process, started when the first of them needs it. */
import t from 'tap'
import { startThreads, type ThreadedService } from '../helpers/service/threads.ts'

let shared: Promise<ThreadedService> | undefined

/** Longer than any test takes. */
const NEVER = 600_000

/** Resolves once the service listens. It has the default limits, but no time limits, and runs until the process ends. */
export function sharedService(): Promise<ThreadedService> {
  shared ??= startThreads(t, {
    requestTimeout: NEVER,
    lockTimeout: NEVER,
  })
  return shared
}
