import { defaultConfig } from '../config.ts'
import type { Finding } from '../stores/finding.ts'
import { checkStore } from '../stores/open.ts'

/** What `plant-store check --help` says after the options. */
export const checkHelp = `
Prints a line for each thing that it verifies, ok, WARN or FAIL, and changes nothing; a service may run
meanwhile. Exit codes: 0 nothing is wrong, though there may be warnings, 1 it could not be checked,
2 something is wrong with the database.`

const FAULTY = 2

/**
 * Verifies a database and prints a line for each finding. A fault sets the exit code of the process to 2; a warning
 * does not, so that a job which checks every night does not fail because of it.
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

function labelOf({ sound, warning }: Finding): string {
  if (!sound) return 'FAIL'
  return warning ? 'WARN' : 'ok'
}
