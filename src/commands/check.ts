import { defaultConfig } from '../config/config.ts'
import type { CheckResult } from '../stores/check-result.ts'
import { checkStore } from '../stores/open.ts'

/** What `plant-store check --help` says after the options. */
export const checkHelp = `
Verifies the database, prints one line per check (ok, WARN or FAIL) and changes nothing. A service may be
running. Exit codes: 0 no faults, possibly warnings; 1 the check could not run; 2 the database has a fault.`

const FAULTY = 2

/**
 * Verifies a database and prints a line for each finding. A fault sets the process's exit code to 2. A warning does
 * not, so that a nightly job does not fail because of one.
 *
 * @throws StoreError if it cannot be checked
 */
export async function check(database: string): Promise<void> {
  const { lockTimeout } = defaultConfig()
  for await (const finding of checkStore({ database, lockTimeout })) {
    process.stdout.write(`${labelOf(finding).padEnd(4)}  ${finding.what}: ${finding.says}\n`)
    if (!finding.sound) process.exitCode = FAULTY
  }
}

function labelOf({ sound, warning }: CheckResult): string {
  if (!sound) return 'FAIL'
  return warning ? 'WARN' : 'ok'
}
