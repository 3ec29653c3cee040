import { Command, InvalidArgumentError, Option } from 'commander'
import { nameScopes, type Scope, scopes } from '../../core/contract/scopes.ts'
import { type StoredToken, TokenStore } from '../../service/token-store.ts'
import { AccessTokens } from '../auth/access-tokens.ts'
import { duration } from '../config/setting-values.ts'
import { describeDatabase } from '../stores/engines.ts'
import { CommandError } from '../system/user-errors.ts'
import { argument, createOption, databaseOption, parseName } from './console/options.ts'
import { formatMinute, formatTable, print, printSecret, requireReader } from './console/output.ts'
import { withStore } from './console/store-access.ts'
import { copyCommand } from './databases/copy.ts'

/** Default of `--scope`: least privilege. */
const LEAST_SCOPES: readonly Scope[] = ['read']

/** Defines `plant-store token`. */
export function tokenCommand(): Command {
  const command = new Command('token').description('create, list, revoke and copy access tokens')
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
  command.addCommand(copyTokensCommand())
  return command
}

/** Defines `plant-store token copy`. */
function copyTokensCommand(): Command {
  return copyCommand('copy all tokens from another database; they stay valid', {
    kind: 'token',
    max: Number.POSITIVE_INFINITY,
    list: (store) => new TokenStore(store).list(),
    prepare: async () => {},
    content: ({ lastUsedAt: _, ...content }) => content,
    adder: async (store) => (token) => new TokenStore(store).add(token),
    discard: async () => false,
  })
}

function parseScopes(value: string): Scope[] {
  const chosen = scopes.filter((scope) => value.split(',').includes(scope))
  if (chosen.length === value.split(',').length) return chosen
  throw new InvalidArgumentError(`Expected ${scopes.join(', ')}, or both separated by a comma.`)
}

interface TokenOptions {
  readonly database: string
  readonly name: string
  readonly scope: readonly Scope[]
  /** Lifetime in milliseconds; unlimited by default. */
  readonly expires?: number
  /** Create the database if it does not exist. */
  readonly create?: true
}

/**
 * Creates a token and prints it. Nothing else goes to standard output, so that scripts can capture it.
 *
 * @throws CommandError if the name is taken
 */
async function createToken(options: TokenOptions): Promise<void> {
  const { database, name, scope, expires, create = false } = options
  requireReader()
  await withStore({ database, create }, async (store) => {
    const lifetime = expires === undefined ? {} : { lifetimeMs: expires }
    const tokens = new AccessTokens(new TokenStore(store))
    const token = await tokens.issue({ name, scopes: scope, ...lifetime })
    if (token === undefined) throw new CommandError(`token ${name} already exists`)
    await printSecret(token, `the token ${name}`, () => tokens.revoke(name))
    process.stderr.write(
      `Created the token ${name} in ${describeDatabase(database)}. It has the ${nameScopes(scope)}. Keep it safe: it is not shown again.\n`,
    )
  })
}

/** Prints a table of the tokens without their secrets. */
async function listTokens(database: string): Promise<void> {
  await withStore({ database }, async (store) => {
    const rows = (await new TokenStore(store).list()).map(tokenCells)
    await print(formatTable([['NAME', 'SCOPES', 'CREATED', 'EXPIRES', 'LAST USED'], ...rows]))
  })
}

/**
 * Revokes a token. A running service rejects it immediately.
 *
 * @throws CommandError if no token has the name
 */
async function revokeToken(database: string, name: string): Promise<void> {
  await withStore({ database }, async (store) => {
    if (!(await new AccessTokens(new TokenStore(store)).revoke(name))) {
      throw new CommandError(`token ${name} does not exist`)
    }
    await print(`revoked ${name} in ${describeDatabase(database)}\n`)
  })
}

function tokenCells({ name, scopes, createdAt, expiresAt, lastUsedAt }: StoredToken): string[] {
  const expired = expiresAt !== undefined && expiresAt.getTime() <= Date.now() ? ' (expired)' : ''
  return [
    name,
    scopes.join(),
    formatMinute(createdAt),
    expiresAt ? formatMinute(expiresAt) + expired : 'never',
    lastUsedAt ? formatMinute(lastUsedAt) : 'never',
  ]
}
