import { inspect } from 'node:util'
import { type InvalidArgumentError, Option } from 'commander'
import type { NewPlant } from '../../service/plant-store.ts'
import {
  type Limit,
  logRequests,
  networks,
  number,
  oneOf,
  onOff,
  type Read,
  type RequestLogs,
  rate,
  seed,
  text,
  time,
} from './setting-values.ts'

/** What the service can be told, read once at the start. Times are in milliseconds, sizes in bytes. */
export interface Config {
  readonly host: string
  /** 0 takes any free one. */
  readonly port: number
  readonly database: string
  readonly logLevel: string
  readonly logRequests: RequestLogs
  /** Whether to serve the docs and the contract. */
  readonly docs: boolean
  readonly bodyLimit: number
  /** How long a request may take to arrive. */
  readonly requestTimeout: number
  /** How long a response may stall because the client does not read it. */
  readonly responseTimeout: number
  /** How many connections may be open. */
  readonly maxConnections: number
  /** How many requests without a valid token each address may send, after a burst of ten times as many. */
  readonly authFailureLimit: Limit
  /** How many requests each token may send, or no limit. */
  readonly rateLimit: Limit
  /** Comma-separated addresses and networks of proxies whose `X-Forwarded-For` is trusted. */
  readonly trustProxy?: string
  /** How long a change may wait while another process holds the database, or for a server. */
  readonly lockTimeout: number
  /** How long requests under way may take to end when the service stops. */
  readonly shutdownTimeout: number
  /** Plants to begin with: a file of them, or they themselves. */
  readonly seed?: string | readonly NewPlant[]
  /** Say that it listens as a line for programs, not as text for people. */
  readonly readyJson: boolean
  /** Path of the PEM certificate chain to serve TLS with, leaf first; needs `tlsKey`. */
  readonly tlsCertificate?: string
  /** Path of the certificate's private key. */
  readonly tlsKey?: string
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
  setting(
    '--host <address>',
    'the address to listen on; localhost means both 127.0.0.1 and ::1',
    text,
    '127.0.0.1',
  ),
  setting(
    '--port <number>',
    'the port to listen on; 0 for any free one',
    number(0, 65_535),
    '3000',
  ),
  setting(
    '--tls-certificate <file>',
    'serve HTTPS with this PEM certificate chain; reloaded when the file changes',
    text,
  ),
  setting('--tls-key <file>', 'the PEM private key of that certificate', text),
  databaseSetting,
  setting('--log-level <level>', `one of ${LOG_LEVELS.join(', ')}`, oneOf(LOG_LEVELS), 'info'),
  setting(
    '--log-requests [which]',
    'log one line per request: all, changes (requests that may modify data) or off',
    logRequests,
    'off',
  ).preset('all'),
  setting('--docs [on|off]', 'serve the docs and the contract', onOff, 'on').preset('on'),
  setting('--body-limit <bytes>', 'the largest body accepted', number(1, 2 ** 30), '1048576'),
  setting(
    '--request-timeout <time>',
    'how long a request may take to arrive',
    time(LONGEST),
    '10s',
  ),
  setting(
    '--response-timeout <time>',
    'how long a client may leave a response unread before it is disconnected',
    time(LONGEST),
    '30s',
  ),
  setting(
    '--max-connections <number>',
    'how many connections may be open',
    number(1, 2 ** 20),
    '2048',
  ),
  setting(
    '--auth-failure-limit <rate>',
    'requests without a valid token allowed per address, after a burst of ten times as many; or off',
    rate,
    '100/s',
  ),
  setting('--rate-limit <rate>', 'requests allowed per token, such as 1000/s; or off', rate, 'off'),
  setting(
    '--trust-proxy <networks>',
    'proxies whose X-Forwarded-For header is trusted, such as 10.0.0.0/8,::1',
    networks,
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
  setting('--seed <file>', 'store the plants of a file first, NDJSON or CSV by its name', seed),
  setting(
    '--ready-json [on|off]',
    'say when it listens as one line of JSON, for programs',
    onOff,
    'off',
  ).preset('on'),
]

/** Those that a program may give, by their names; it has no use for what is printed. */
const options = new Map(settings.map((option) => [option.attributeName(), option]))
options.delete('readyJson')

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
 * The settings that a program gives, with the defaults of the others.
 *
 * @param given by the names that they have in Config; those that are undefined are not given
 * @throws ConfigError saying of the first that is bad or unknown what the command line would say of it
 */
export function configOf(given: { readonly [name: string]: unknown }): Config {
  const config: { [name: string]: unknown } = { ...defaultConfig() }
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined) config[name] = readOption(name, value)
  }
  return config as unknown as Config
}

function readOption(name: string, value: unknown): unknown {
  if (name === 'token') return readToken(name, value)
  const option = options.get(name)
  if (option === undefined) {
    const known = [...options.keys(), 'token'].join(', ')
    throw new ConfigError(`${name} is not an option; these are: ${known}`)
  }
  try {
    return (option.parseArg as Read)(value)
  } catch (error) {
    const { message } = error as InvalidArgumentError
    throw new ConfigError(`option '${name}' argument ${inspect(value)} is invalid. ${message}`)
  }
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
  return token === undefined ? {} : { token: readToken(TOKEN_VARIABLE, token) }
}

/** It may be a secret all the same, so what is said of a bad one does not repeat it. */
function readToken(name: string, token: unknown): string {
  // What RFC 6750 §2.1 lets stand in the header.
  const valid = typeof token === 'string' && /^[\w.~+/-]+=*$/.test(token)
  if (valid && token.length >= TOKEN_LENGTH) return token
  throw new ConfigError(
    `${name} must have at least ${TOKEN_LENGTH} characters of A-Z a-z 0-9 - . _ ~ + / (then =)`,
  )
}

/** @param value its default, as text; without it there is none */
function setting(flags: string, meaning: string, read: Read, value?: string): Option {
  const option = new Option(flags, meaning).argParser(read)
  option.env(PREFIX + option.name().toUpperCase().replaceAll('-', '_'))
  return value === undefined ? option : option.default(read(value), value)
}
