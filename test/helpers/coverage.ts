import { syncBuiltinESMExports } from 'node:module'
import { fileURLToPath } from 'node:url'
import threads, { Worker, type WorkerOptions } from 'node:worker_threads'

/**
 * Environment variables of processes and threads that do not measure coverage: tap's own, and Node's compile
 * cache, which makes coverage imprecise but saves a fifth of the time that a service takes to start.
 */
const UNMEASURED: Readonly<Record<string, string | undefined>> = {
  _TAPJS_PROCESSINFO_COVERAGE_: '0',
  NODE_OPTIONS: undefined,
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../../.tap/compile-cache', import.meta.url)),
  NODE_DISABLE_COMPILE_CACHE: undefined,
}

let isMeasuringThreads = true

/** Loads tap only if it measures, because that takes longer than starting a thread. */
class MeasurableWorker extends Worker {
  constructor(module: string | URL, options?: WorkerOptions) {
    const isMeasured = isMeasuringThreads && calls === 0
    super(module, isMeasured ? options : { env: unmeasured(), ...options, execArgv: [] })
  }
}
threads.Worker = MeasurableWorker
syncBuiltinESMExports()

function unmeasured(): NodeJS.ProcessEnv {
  const variables = Object.entries({ ...process.env, ...UNMEASURED })
  return Object.fromEntries(variables.filter(([, value]) => value !== undefined))
}

/** Sets whether threads that start from now on measure coverage. By default, they do. */
export function measureThreads(measures: boolean): void {
  isMeasuringThreads = measures
}

/** The values to restore, and how many calls of `withoutCoverage` are in flight. */
let before: typeof UNMEASURED = {}
let calls = 0

/**
 * Opens a store or starts a service whose threads and processes do not measure coverage, which takes longer than their
 * work. Use it only if other tests cover everything that they run.
 */
export async function withoutCoverage<Opened>(open: () => Promise<Opened>): Promise<Opened> {
  if (calls === 0) {
    before = Object.fromEntries(Object.keys(UNMEASURED).map((name) => [name, process.env[name]]))
    setEnvironment(UNMEASURED)
  }
  calls++
  try {
    return await open()
  } finally {
    calls--
    if (calls === 0) setEnvironment(before)
  }
}

function setEnvironment(variables: typeof UNMEASURED): void {
  for (const [name, value] of Object.entries(variables)) {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
}
