import { readFileSync } from 'node:fs'
import { Command, InvalidArgumentError, Option } from 'commander'
import { onConflicts } from '../../service/plant-store.ts'
import type { Scope } from '../../service/token-store.ts'
import { scopes } from '../../service/token-store.ts'
import type { Config } from '../config/config.ts'
import { databaseSetting, settings, settingsHelp, tokenOf } from '../config/config.ts'
import { number, time } from '../config/setting-values.ts'
import { PACKAGE } from '../package.ts'
import { locationOf } from '../stores/engines.ts'
import { formats } from '../transfer/format.ts'
import { onErrors } from '../transfer/import.ts'
import { RECORD_LIMIT } from '../transfer/record-reader.ts'
import { check, checkHelp } from './check.ts'
import type { ExportOptions } from './export.ts'
import type { ImportOptions } from './import.ts'
import { createToken, listTokens, revokeToken, type TokenOptions } from './token.ts'

/** Default of `--scope`: least privilege. */
const LEAST_SCOPES: readonly Scope[] = ['read']

/** The command line: `plant-store [serve]`, `plant-store token …`. Each command's work is its own file. */
export function program(): Command {
  const { version } = JSON.parse(readFileSync(PACKAGE, 'utf8'))
  const command = new Command('plant-store')
    .description('A store of plants behind an HTTP interface.')
    .version(version)
    .showHelpAfterError('(--help says what there is)')
    .hook('preAction', (_program, command) => warnOfPassword(command))
  const serving = command
    .command('serve', { isDefault: true })
    .description('serve the interface (the default)')
    .addHelpText('after', settingsHelp)
    .action(async (options: Config) => {
      const config = { ...options, ...tokenOf(process.env) }
      // Only here, as the other commands need no server, and start in half the time without it.
      const { serve } = await import('./serve.ts')
      await serve(config)
    })
  for (const option of settings) serving.addOption(option)
  command.addHelpText('after', () => `\n${serving.helpInformation()}${settingsHelp}`)
  command.addCommand(tokenCommand())
  command.addCommand(importCommand())
  command.addCommand(exportCommand())
  command.addCommand(backupCommand())
  command.addCommand(checkCommand())
  return command
}

/** Other users can read the command line in the process list. */
function warnOfPassword(command: Command): void {
  if (command.getOptionValueSource('database') !== 'cli') return
  const location = locationOf(command.opts().database)
  if (!('server' in location && location.hasPassword)) return
  const { envVar } = databaseSetting
  console.error(
    `plant-store: other users can read the password in --database; set ${envVar} or use ~/.pgpass instead`,
  )
}

function tokenCommand(): Command {
  const command = new Command('token').description('make, list and revoke access tokens')
  command
    .command('create')
    .description('make a token and print it; it is not shown again')
    .requiredOption('--name <name>', 'what to call it', nameOf)
    .addOption(
      new Option('--scope <scopes>', `what it may do: ${scopes.join(', ')} or ${scopes.join()}`)
        .argParser(scopesOf)
        .default(LEAST_SCOPES, LEAST_SCOPES.join()),
    )
    .option(
      '--expires <time>',
      'how long it is valid, such as 90d; without it for ever',
      time('36500d'),
    )
    .addOption(databaseSetting)
    .action((options: TokenOptions) => createToken(options))
  command
    .command('list')
    .description('list the tokens, without their secrets')
    .addOption(databaseSetting)
    .action(({ database }: TokenOptions) => listTokens(database))
  command
    .command('revoke <name>')
    .description('make a token invalid, at once')
    .addOption(databaseSetting)
    .action((name: string, { database }: TokenOptions) => revokeToken(database, name))
  return command
}

function importCommand(): Command {
  return new Command('import')
    .description('store the plants of a file, also while the service runs')
    .argument('<file>', 'NDJSON or CSV; - reads standard input')
    .addOption(formatOption())
    .addOption(
      new Option('--on-error <what>', 'at a record that is refused: go no further, or leave it out')
        .choices(onErrors)
        .default('stop'),
    )
    .addOption(
      new Option('--on-conflict <what>', 'at an id that is taken by another plant')
        .choices(onConflicts)
        .default('stop'),
    )
    .addOption(
      new Option('--record-limit <bytes>', 'the largest record accepted')
        .argParser(number(1, 2 ** 28))
        .default(RECORD_LIMIT),
    )
    .addOption(databaseSetting)
    .addHelpText('after', importHelp)
    .action(async (file: string, options: ImportOptions) => {
      const { importPlants } = await import('./import.ts')
      await importPlants(file, options)
    })
}

function exportCommand(): Command {
  return new Command('export')
    .description('write all plants by id, as they are at one moment')
    .argument('[file]', 'where to write them, in place of what is there; - is standard output', '-')
    .addOption(formatOption())
    .option(
      '--escape-formulas',
      'write CSV that is safe to open in a spreadsheet; this changes the data, so do not import the file',
    )
    .addOption(databaseSetting)
    .action(async (file: string, options: ExportOptions) => {
      const { exportPlants } = await import('./export.ts')
      await exportPlants(file, options)
    })
}

function formatOption(): Option {
  const meaning = 'the format, where the name of the file does not say it'
  return new Option('--format <format>', meaning).choices(formats)
}

const importHelp = `
A record is a line of NDJSON such as {"id": 4, "name": "Abies alba Mill.", "tag": "Tree"}, or one of CSV
with a header such as id,name,tag. Standard error has a line for each record that is refused, standard
output a summary. Sent again, the same file changes nothing more. Exit codes: 0 all is stored, 1 it
stopped before the end, 2 some records were left out, 130 or 143 interrupted; what came before is stored.`

function backupCommand(): Command {
  return new Command('backup')
    .description('copy the database into a new file, while the service runs, and verify the copy')
    .argument('<file>', 'where to put the copy; what is there is not overwritten')
    .addOption(databaseSetting)
    .addHelpText('after', '\nTo restore it, start the service with the copy as its --database.')
    .action(async (file: string, { database }: { database: string }) => {
      const { backup } = await import('./backup.ts')
      await backup(file, database)
    })
}

function checkCommand(): Command {
  return new Command('check')
    .description('verify the database, without changing it')
    .addOption(databaseSetting)
    .addHelpText('after', checkHelp)
    .action(({ database }: { database: string }) => check(database))
}

function nameOf(value: string): string {
  if (/^[\w.-]{1,64}$/.test(value)) return value
  throw new InvalidArgumentError('Expected up to 64 characters of A-Z a-z 0-9 . _ -')
}

function scopesOf(value: string): Scope[] {
  const chosen = scopes.filter((scope) => value.split(',').includes(scope))
  if (chosen.length === value.split(',').length) return chosen
  throw new InvalidArgumentError(`Expected ${scopes.join(', ')}, or both with a comma between.`)
}
