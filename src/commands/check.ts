import { defaultConfig } from '../config.ts'
import { checkStore } from '../stores/open.ts'

/** What `plant-store check --help` says behind the options. */
export const checkHelp = `
Prints a line for each thing that is verified, ok or FAIL, and changes nothing; a service may run
meanwhile. Exit codes: 0 all is well, 1 it could not be checked, 2 something is wrong with the database.`

const FAULTY = 2

/**
 * Verifies a database and prints a line for each finding. A fault makes the exit code of the process 2.
 *
 * @throws StoreError if it cannot be checked
 */
export async function check(database: string): Promise<void> {
  const { lockTimeout } = defaultConfig()
  for await (const { what, sound, says } of checkStore({ database, lockTimeout })) {
    process.stdout.write(`${sound ? 'ok  ' : 'FAIL'}  ${what}: ${says}\n`)
    if (!sound) process.exitCode = FAULTY
  }
}
