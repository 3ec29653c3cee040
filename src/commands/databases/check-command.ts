import { Command } from 'commander'
import { defaultConfig } from '../../config/config.ts'
import { findEngine } from '../../stores/engines.ts'
import { escapeControlCharacters } from '../../transfer/unknown-fields.ts'
import { databaseOption } from '../console/options.ts'

const help = `
Verifies the database, prints one line per check (ok, WARN or FAIL) and changes nothing. The service can be
running. Exit codes: 0 no faults, possibly warnings; 1 the check could not run; 2 the database has a fault.`

const FAULTY = 2

const LABELS = { ok: 'ok', warning: 'WARN', fault: 'FAIL' }

/** Defines `plant-store check`. */
export function checkCommand(): Command {
  return new Command('check')
    .description('verify the database without changing it')
    .addOption(databaseOption)
    .addHelpText('after', help)
    .action(({ database }: { database: string }) => check(database))
}

/**
 * Verifies a database and prints a line for each result. A fault sets the process's exit code to 2. A warning does
 * not, so that a nightly job does not fail because of one.
 *
 * @throws StoreError if the check cannot run
 */
async function check(database: string): Promise<void> {
  const { lockTimeout } = defaultConfig()
  const results = findEngine(database).check({ database, lockTimeout })
  for await (const { subject, status, message } of results) {
    // It can name what others have added to the database.
    const line = `${LABELS[status].padEnd(4)}  ${subject}: ${escapeControlCharacters(message)}`
    process.stdout.write(`${line}\n`)
    if (status === 'fault') process.exitCode = FAULTY
  }
}
