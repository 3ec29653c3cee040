import { readFileSync } from 'node:fs'
import { Command, InvalidArgumentError, Option } from 'commander'
import { PACKAGE } from '../../contract/package.ts'
import { type Scope, scopes } from '../../contract/scopes.ts'
import { onConflicts } from '../../service/plant-store.ts'
import { type Config, tokenFromEnvironment } from '../config/config.ts'
import { removeServiceLinks } from '../config/service-links.ts'
import { duration, integer } from '../config/setting-values.ts'
import { STANDBYS_MAX } from '../config/settings.ts'
import { locateDatabase } from '../stores/engines.ts'
import { exportFormats, type Format, formats } from '../transfer/format.ts'
import { onErrors } from '../transfer/import.ts'
import { backupCommand } from './backup-command.ts'
import { check, checkHelp } from './check-command.ts'
import type { ExportOptions } from './export-command.ts'
import type { ImportOptions } from './import-command.ts'
import {
  argument,
  createOption,
  databaseOption,
  parseName,
  settingOptions,
  settingsHelp,
} from './options.ts'
import { createToken, listTokens, revokeToken, type TokenOptions } from './token.ts'
import { webhookCommand } from './webhook-command.ts'

/** Default of `--scope`: least privilege. */
const LEAST_SCOPES: readonly Scope[] = ['read']

/** Defines the command line. Each command is implemented in its own file. */
export function program(): Command {
  const { version }: { version: string } = JSON.parse(readFileSync(PACKAGE, 'utf8'))
  const command: Command = new Command('plant-store')
    .description('Stores plants and serves them over HTTP.')
    .version(version)
    .hook('preSubcommand', (program, subcommand) => {
      rejectUnknownCommand(program, serving)
      // Before Commander reads the environment.
      if (subcommand === serving) ignoreServiceLinks()
    })
    .hook('preAction', (_program, command) => warnAboutPassword(command))
  const serving = command
    .command('serve', { isDefault: true })
    .description('serve the HTTP API (the default)')
    .addHelpText('after', settingsHelp)
    .action(async (options: Config) => {
      const config = { ...options, ...tokenFromEnvironment(process.env) }
      // Imported late, because the other commands start in half the time without the server.
      const { serve } = await import('./serve.ts')
      await serve(config)
    })
  for (const option of settingOptions) serving.addOption(option)
  command.addHelpText('after', () => `\n${serving.helpInformation()}${settingsHelp}`)
  command.addCommand(tokenCommand())
  command.addCommand(webhookCommand())
  command.addCommand(importCommand())
  command.addCommand(exportCommand())
  command.addCommand(backupCommand())
  command.addCommand(checkCommand())
  command.addCommand(requireStandbysCommand())
  helpAfterErrors(command)
  return command
}

/** Ends every error about the arguments with a reference to the help, in all subcommands. */
function helpAfterErrors(command: Command, path = command.name()): void {
  command.showHelpAfterError(`(see ${path} --help)`)
  // Commander prints suggestions in parentheses on a line of their own.
  const outputError = (message: string, write: (text: string) => void) =>
    write(message.replace(/\n\(Did you mean ([^ ]+)\?\)/, ". Did you mean '$1'?"))
  command.configureOutput({ outputError })
  for (const each of command.commands) helpAfterErrors(each, `${path} ${each.name()}`)
}

/** Otherwise Commander would pass the word to `serve`, the default, which reports excess arguments. */
function rejectUnknownCommand(program: Command, serving: Command): void {
  const names = program.commands.map((each) => each.name())
  if (names.includes(program.args[0] ?? '')) return
  // Commander does not distinguish the values of options from other words before it parses the command's options.
  const [word] = serving.parseOptions(program.args).operands
  if (word === undefined || names.includes(word)) return
  // Commander reports and suggests commands only where there is no default.
  const withoutDefault = new Command().copyInheritedSettings(program).helpCommand(false)
  for (const name of names) withoutDefault.command(name)
  withoutDefault.parse([word], { from: 'user' })
}

function ignoreServiceLinks(): void {
  const warning = removeServiceLinks(process.env)
  if (warning !== undefined) process.stderr.write(`plant-store: ${warning}\n`)
}

/** Other users can read the command line in the process list. */
function warnAboutPassword(command: Command): void {
  if (command.getOptionValueSource('database') !== 'cli') return
  const { database } = command.opts<{ database: string }>()
  const location = locateDatabase(database)
  if (!('server' in location && location.hasPassword)) return
  const { envVar } = databaseOption
  process.stderr.write(
    `plant-store: other users can read the password in --database; set ${envVar} or use ~/.pgpass instead\n`,
  )
}

function tokenCommand(): Command {
  const command = new Command('token').description('create, list and revoke access tokens')
  command
    .command('create')
    .description('create a token and print it; it is not shown again')
    .requiredOption('--name <name>', 'a unique name for the token', parseName)
    .addOption(
      new Option(
        '--scope <scopes>',
        `what the token permits: ${scopes.join(', ')} or ${scopes.join()}`,
      )
        .argParser(parseScopes)
        .default(LEAST_SCOPES, LEAST_SCOPES.join()),
    )
    .option(
      '--expires <duration>',
      'how long the token is valid, such as 90d; by default it never expires',
      argument(duration('36500d')),
    )
    .addOption(databaseOption)
    .addOption(createOption)
    .action((options: TokenOptions) => createToken(options))
  command
    .command('list')
    .description('list the tokens without their secrets')
    .addOption(databaseOption)
    .action(({ database }: TokenOptions) => listTokens(database))
  command
    .command('revoke')
    .description('revoke a token immediately')
    .argument('<name>', 'the name of the token')
    .addOption(databaseOption)
    .action((name: string, { database }: TokenOptions) => revokeToken(database, name))
  return command
}

function importCommand(): Command {
  return new Command('import')
    .description('import plants from a file; the service can be running')
    .argument('<file>', 'an NDJSON, CSV or JSON file; - reads standard input')
    .addOption(formatOption(formats))
    .addOption(
      new Option('--on-error <action>', 'what to do with an invalid record')
        .choices(onErrors)
        .default('stop'),
    )
    .addOption(
      new Option('--on-conflict <action>', 'what to do if a different plant has the same id')
        .choices(onConflicts)
        .default('stop'),
    )
    .option(
      '--ignore-unknown',
      'ignore CSV columns other than id, name and tag instead of stopping',
    )
    .option('--strict', 'refuse JSON records with properties other than id, name and tag')
    .addOption(databaseOption)
    .addOption(createOption)
    .addHelpText('after', importHelp)
    .action(async (file: string, options: ImportOptions) => {
      const { importPlants } = await import('./import-command.ts')
      await importPlants(file, options)
    })
}

function exportCommand(): Command {
  return new Command('export')
    .description('export a snapshot of all plants in id order')
    .argument('[file]', 'the file to write or replace; - is standard output', '-')
    .addOption(formatOption(exportFormats))
    .option(
      '--escape-formulas',
      'write CSV that is safe to open in a spreadsheet; this changes the data, so do not import the file',
    )
    .option(
      '--cursor <file>',
      'also write the cursor from which to follow the changes made after the export',
    )
    .addOption(databaseOption)
    .action(async (file: string, options: ExportOptions) => {
      const { exportPlants } = await import('./export-command.ts')
      await exportPlants(file, options)
    })
}

function formatOption(formats: readonly Format[]): Option {
  return new Option(
    '--format <format>',
    'the file format; by default determined by the file extension',
  ).choices(formats)
}

const importHelp = `
An NDJSON record is a line such as {"id": 4, "name": "Abies alba Mill.", "tag": "Tree"}. A CSV file starts
with a header such as id,name,tag. A JSON file is an array, as GET /plants returns it. Refused records are
reported on standard error, and a summary is printed on standard output. Importing the same file again changes
nothing. The separator of a CSV file can also be a semicolon or a tab.
Exit codes: 0 all plants are stored; 1 the import stopped early; 2 some records were skipped; 130 or 143 the
import was interrupted. An import that stops early keeps the records it has already stored.`

function checkCommand(): Command {
  return new Command('check')
    .description('verify the database without changing it')
    .addOption(databaseOption)
    .addHelpText('after', checkHelp)
    .action(({ database }: { database: string }) => check(database))
}

function requireStandbysCommand(): Command {
  return new Command('require-standbys')
    .description('change how many PostgreSQL standbys must have a change before it is acknowledged')
    .argument('<number>', 'the number of standbys', argument(integer(0, STANDBYS_MAX)))
    .addOption(databaseOption)
    .addHelpText(
      'after',
      '\nRunning services adopt the number. Change their setting too: a service with another number does not start.',
    )
    .action(async (number: number, { database }: { database: string }) => {
      const { requireStandbys } = await import('./require-standbys.ts')
      await requireStandbys(number, database)
    })
}

function parseScopes(value: string): Scope[] {
  const chosen = scopes.filter((scope) => value.split(',').includes(scope))
  if (chosen.length === value.split(',').length) return chosen
  throw new InvalidArgumentError(`Expected ${scopes.join(', ')}, or both separated by a comma.`)
}
