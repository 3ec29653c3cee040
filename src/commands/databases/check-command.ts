import { Command, Option } from 'commander'
import { defaultConfig } from '../../config/config.ts'
import { loadExtension } from '../../config/own-fields-file.ts'
import { findEngine } from '../../stores/engines.ts'
import type { CheckResult } from '../../stores/shared/check-result.ts'
import { escapeControlCharacters } from '../../system/control-characters.ts'
import { databaseOption } from '../console/options.ts'
import { print } from '../console/output.ts'
import { withStore } from '../console/store-access.ts'

const help = `
Verifies the database, prints one line per check (ok, WARN or FAIL) and changes nothing. The service can be
running. Exit codes: 0 no faults, possibly warnings; 1 the check could not run; 2 the database has a fault.

With --contract, it then opens the database like the service, verifies that all plants satisfy the contract, and
remembers the result. The service needs it before it starts with a contract that allows fewer values than the previous
one. Stop or freeze the service first: the result is valid until a plant changes.`

const FAULTY = 2

const LABELS = { ok: 'ok', warning: 'WARN', fault: 'FAIL' }

/** Without the variable of the setting, which names the contract that is being served, not the next one. */
const contractOption = new Option(
  '--contract <file>',
  'also verify that all plants satisfy the contract with which the service will start',
)

interface Options {
  readonly database: string
  readonly contract?: string
}

/** Defines `plant-store check`. */
export function checkCommand(): Command {
  return new Command('check')
    .description('verify the database without changing it')
    .addOption(databaseOption)
    .addOption(contractOption)
    .addHelpText('after', help)
    .action(check)
}

/**
 * Verifies a database and prints a line for each result. A fault sets the process's exit code to 2. A warning does
 * not, so that a nightly job does not fail because of one.
 *
 * @throws StoreError if the check cannot run
 */
async function check({ database, contract }: Options): Promise<void> {
  const fields = (await loadExtension(contract))?.fields
  const { lockTimeout } = defaultConfig()
  const isSound = await report(findEngine(database).check({ database, lockTimeout }))
  if (fields === undefined || !isSound) return
  const { checkFields } = await import('./check-fields.ts')
  await withStore({ database }, async (store) => {
    await report(checkFields(store, fields))
  })
}

/** Prints results, and resolves to whether none of them is a fault. */
async function report(results: AsyncIterable<CheckResult>): Promise<boolean> {
  let isSound = true
  for await (const { subject, status, message } of results) {
    // It can name what others have added to the database.
    const line = `${LABELS[status].padEnd(4)}  ${subject}: ${escapeControlCharacters(message)}`
    if (status === 'fault') isSound = false
    await print(`${line}\n`)
  }
  if (!isSound) process.exitCode = FAULTY
  return isSound
}
