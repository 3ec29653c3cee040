/** tap's variable. A process or thread that starts with the value 0 does not measure coverage. */
const VARIABLE = '_TAPJS_PROCESSINFO_COVERAGE_'

/** The value to restore, and how many calls of `withoutCoverage` are in flight. */
let before: string | undefined
let calls = 0

/**
 * Opens a store or starts a service whose threads do not measure coverage, which takes longer than their work. Use it
 * only if other tests cover everything that the threads run.
 */
export async function withoutCoverage<Opened>(open: () => Promise<Opened>): Promise<Opened> {
  if (calls === 0) before = process.env[VARIABLE]
  calls++
  process.env[VARIABLE] = '0'
  try {
    return await open()
  } finally {
    calls--
    if (calls === 0) {
      if (before === undefined) delete process.env[VARIABLE]
      else process.env[VARIABLE] = before
    }
  }
}
