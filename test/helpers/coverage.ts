import { fileURLToPath } from 'node:url'

/**
 * Environment variables of processes and threads that do not measure coverage: tap's own, and Node's compile cache,
 * which makes coverage imprecise but saves a fifth of the time that a service takes to start.
 */
const UNMEASURED: Readonly<Record<string, string | undefined>> = {
  _TAPJS_PROCESSINFO_COVERAGE_: '0',
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../../.tap/compile-cache', import.meta.url)),
  NODE_DISABLE_COMPILE_CACHE: undefined,
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
