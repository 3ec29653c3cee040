import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { PACKAGE } from '../../core/package.ts'
import { type Config, tokenFromEnvironment } from '../config/config.ts'
import { removeServiceLinks } from '../config/service-links.ts'
import { locateDatabase } from '../stores/engines.ts'
import { escapeControlCharacters } from '../system/control-characters.ts'
import { backupCommand, restoreCommand } from './backup/backup-command.ts'
import { databaseOption, fromArgument, settingOptions, settingsHelp } from './console/options.ts'
import { checkCommand } from './databases/check-command.ts'
import { requireStandbysCommand } from './databases/require-standbys-command.ts'
import { indexCommand } from './index-command.ts'
import { compareCommand } from './mirror/compare-command.ts'
import { mirrorCommand } from './mirror/mirror-command.ts'
import { freezeCommand, promoteCommand, unfreezeCommand } from './mirror/restriction-commands.ts'
import { tokenCommand } from './token-command.ts'
import { exportCommand, importCommand } from './transfer/transfer-commands.ts'
import { webhookCommand } from './webhooks/webhook-command.ts'

/** Defines the command line: `serve`, the default, and the commands, each of which has its own file. */
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
      const { serve } = await import('./serve/serve.ts')
      await serve(config)
    })
  for (const option of settingOptions) serving.addOption(option)
  command.addHelpText('after', () => `\n${serving.helpInformation()}${settingsHelp}`)
  command.addCommand(tokenCommand())
  command.addCommand(webhookCommand())
  command.addCommand(indexCommand())
  command.addCommand(importCommand())
  command.addCommand(exportCommand())
  command.addCommand(backupCommand())
  command.addCommand(restoreCommand())
  command.addCommand(checkCommand())
  command.addCommand(mirrorCommand())
  command.addCommand(compareCommand())
  command.addCommand(requireStandbysCommand())
  command.addCommand(freezeCommand())
  command.addCommand(unfreezeCommand())
  command.addCommand(promoteCommand())
  helpAfterErrors(command)
  return command
}

/** An error as Commander prints it. */
const ERROR = /^(.*?)(?:\n\(Did you mean (?:one of )?([\w, -]+)\?\))?\n$/s

/** Ends every error about the arguments with a reference to the help, in all subcommands. */
function helpAfterErrors(command: Command, path = command.name()): void {
  command.showHelpAfterError(`(see ${path} --help)`)
  const outputError = (message: string, write: (text: string) => void) => {
    // Commander prints suggestions in parentheses on a line of their own.
    const [, error = '', suggested] = ERROR.exec(message) ?? []
    const names = suggested?.split(', ').map((name) => `'${name}'`)
    const suggestion = names === undefined ? '' : `. Did you mean ${names.join(' or ')}?`
    // It quotes the arguments.
    write(`${escapeControlCharacters(error)}${suggestion}\n`)
  }
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
  const warn = (database: string, where: string, remedy: string) => {
    const location = locateDatabase(database)
    if (!('server' in location && location.hasPassword)) return
    process.stderr.write(
      `plant-store: other users can read the password in ${where}; ${remedy} instead\n`,
    )
  }
  if (command.getOptionValueSource('database') === 'cli') {
    warn(command.opts().database, '--database', `set ${databaseOption.envVar} or use ~/.pgpass`)
  }
  const [from = ''] = command.registeredArguments.includes(fromArgument) ? command.args : []
  warn(from, '<from>', 'use ~/.pgpass')
}
