import { readFileSync } from 'node:fs'
import { Command, InvalidArgumentError, Option } from 'commander'
import type { Scope } from '../../service/token-store.ts'
import { scopes } from '../../service/token-store.ts'
import type { Config } from '../config.ts'
import { databaseSetting, settings, settingsHelp, time, tokenOf } from '../config.ts'
import { createToken, listTokens, revokeToken, type TokenOptions } from './token.ts'

/** The command line: `plant-store [serve]`, `plant-store token …`. Each command's work is its own file. */
export function program(): Command {
  const { version } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  )
  const command = new Command('plant-store')
    .description('A store of plants behind an HTTP interface.')
    .version(version)
    .showHelpAfterError('(--help says what there is)')
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
  return command
}

function tokenCommand(): Command {
  const command = new Command('token').description('make, list and revoke access tokens')
  command
    .command('create')
    .description('make a token and print it; it is not shown again')
    .requiredOption('--name <name>', 'what to call it', nameOf)
    .addOption(
      new Option('--scope <scopes>', `what it may do: ${scopes.join(', ')} or both`)
        .argParser(scopesOf)
        .default(scopes, scopes.join()),
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

function nameOf(value: string): string {
  if (/^[\w.-]{1,64}$/.test(value)) return value
  throw new InvalidArgumentError('Expected up to 64 characters of A-Z a-z 0-9 . _ -')
}

function scopesOf(value: string): Scope[] {
  const chosen = scopes.filter((scope) => value.split(',').includes(scope))
  if (chosen.length === value.split(',').length) return chosen
  throw new InvalidArgumentError(`Expected ${scopes.join(', ')}, or both with a comma between.`)
}
