import { InvalidArgumentError, Option } from 'commander'
import ms, { type StringValue } from 'ms'

/** What the service can be told, read once at the start. Times are in milliseconds, sizes in bytes. */
export interface Config {
  readonly host: string
  /** 0 takes any free one. */
  readonly port: number
  readonly database: string
  readonly logLevel: string
  readonly logRequests: boolean
  readonly bodyLimit: number
  /** How long a request may take to arrive. */
  readonly requestTimeout: number
  /** How long a change may wait while another process holds the database, or for a server. */
  readonly lockTimeout: number
  /** How long requests under way may take to end when the service stops. */
  readonly shutdownTimeout: number
  /** A token that is valid beside those in the store. */
  readonly token?: string
}

/** A setting, or a word of the command line, is not what it has to be. */
export class ConfigError extends Error {}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

const PREFIX = 'PLANT_STORE_'
export const TOKEN_VARIABLE = `${PREFIX}TOKEN`
const TOKEN_LENGTH = 16

/** Timers count milliseconds in 32 bits; a longer time would be over at once. */
const LONGEST = '1d'

export const databaseSetting = setting(
  '--database <place>',
  'where the plants are: a file, or a server as postgres://user@host1,host2/name; :memory: keeps them until the process ends',
  text,
  'data/plants.db',
)

/** The settings that have a flag, each with its variable, default and meaning. */
export const settings: readonly Option[] = [
  setting('--host <address>', 'the address to listen on', text, '127.0.0.1'),
  setting(
    '--port <number>',
    'the port to listen on; 0 for any free one',
    number(0, 65_535),
    '3000',
  ),
  databaseSetting,
  setting('--log-level <level>', `one of ${LOG_LEVELS.join(', ')}`, oneOf(LOG_LEVELS), 'info'),
  setting('--log-requests [on|off]', 'log a line for each request', onOff, 'off').preset('on'),
  setting('--body-limit <bytes>', 'the largest body accepted', number(1, 2 ** 30), '1048576'),
  setting(
    '--request-timeout <time>',
    'how long a request may take to arrive',
    time(LONGEST),
    '10s',
  ),
  setting(
    '--lock-timeout <time>',
    'how long a change waits for a locked database, and a statement for a server',
    time(LONGEST),
    '5s',
  ),
  setting(
    '--shutdown-timeout <time>',
    'how long a stop waits for requests to end',
    time(LONGEST),
    '10s',
  ),
]

/** What `--help` says of the settings, behind the list of them. */
export const settingsHelp = `
Times are written as 500ms, 10s or 2m. Each option may also be given by the variable named
behind it; a flag wins. ${TOKEN_VARIABLE} (at least ${TOKEN_LENGTH} characters) is one more access token,
with all scopes; it has no flag, as other users can read a command line.`

/** The settings as they are when nobody says otherwise. */
export function defaultConfig(): Config {
  const defaults = settings.map((option) => [option.attributeName(), option.defaultValue])
  return Object.fromEntries(defaults)
}

/**
 * The token of the environment, if there is one.
 *
 * @throws ConfigError if it is too short to be a secret, or another variable with our prefix is not
 *   one of ours
 */
export function tokenOf(environment: NodeJS.ProcessEnv): Pick<Config, 'token'> {
  const known = new Set([TOKEN_VARIABLE, ...settings.map(({ envVar }) => envVar)])
  for (const name of Object.keys(environment)) {
    if (name.startsWith(PREFIX) && !known.has(name)) {
      throw new ConfigError(`${name} is not a setting; these are: ${[...known].join(', ')}`)
    }
  }
  const token = environment[TOKEN_VARIABLE]
  if (token === undefined) return {}
  // What RFC 6750 §2.1 lets stand in the header.
  if (token.length < TOKEN_LENGTH || !/^[\w.~+/-]+=*$/.test(token)) {
    throw new ConfigError(
      `${TOKEN_VARIABLE} must have at least ${TOKEN_LENGTH} characters of A-Z a-z 0-9 - . _ ~ + / (then =)`,
    )
  }
  return { token }
}

/** Reads a time such as `90d`, to whole milliseconds, more than none and at most `most`. */
export function time(most: StringValue) {
  return (value: string): number => {
    const valid = /^\d{1,15}(\.\d{1,15})?(ms|s|m|h|d)$/.test(value)
    const milliseconds = valid ? Math.round(ms(value as StringValue)) : 0
    if (milliseconds > 0 && milliseconds <= ms(most)) return milliseconds
    return expected(`a time such as 500ms, 10s, 2m, 12h or 1d, and not more than ${most}`)
  }
}

function setting(flags: string, meaning: string, parse: (value: string) => unknown, value: string) {
  const option = new Option(flags, meaning)
  const variable = PREFIX + option.name().toUpperCase().replaceAll('-', '_')
  return option.env(variable).default(parse(value), value).argParser(parse)
}

function text(value: string): string {
  return value === '' ? expected('some text') : value
}

/** Reads a whole number from `least` to `most`. */
export function number(least: number, most: number) {
  return (value: string): number => {
    const valid = /^\d{1,15}$/.test(value) && Number(value) >= least && Number(value) <= most
    return valid ? Number(value) : expected(`a whole number from ${least} to ${most}`)
  }
}

function oneOf(values: readonly string[]) {
  return (value: string): string =>
    values.includes(value) ? value : expected(`one of ${values.join(', ')}`)
}

function onOff(value: string): boolean {
  return oneOf(['on', 'off'])(value) === 'on'
}

function expected(what: string): never {
  throw new InvalidArgumentError(`Expected ${what}.`)
}
