/** tap's variable. A process or thread that starts with the value 0 does not measure coverage. */
const VARIABLE = '_TAPJS_PROCESSINFO_COVERAGE_'

/**
 * Opens a store whose threads do not measure coverage, which takes longer than their work. Use it only if other tests
 * cover everything that the threads run.
 */
export async function withoutCoverage<Opened>(open: () => Promise<Opened>): Promise<Opened> {
  const { [VARIABLE]: before } = process.env
  process.env[VARIABLE] = '0'
  try {
    return await open()
  } finally {
    if (before === undefined) delete process.env[VARIABLE]
    else process.env[VARIABLE] = before
  }
}
