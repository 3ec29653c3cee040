import { keysOf } from '../../core/known.ts'
import {
  duration,
  endpoint,
  faults,
  integer,
  issuer,
  logRequests,
  networks,
  nonEmptyString,
  oneOf,
  onOff,
  origins,
  publicUrl,
  rate,
  scope,
  seed,
  threads,
} from './setting-values.ts'

/** A setting, available on the command line, in the environment and to embedding programs. */
export interface Setting {
  /** The placeholder in `--help`, in square brackets if the flag can stand alone. */
  readonly argument: string
  readonly description: string
  /** Written as on the command line; a setting without a default is optional. */
  readonly default?: string
  /** The value of the flag without an argument. */
  readonly bareFlag?: string
  /** @throws InvalidValue */
  readonly read: (value: unknown) => unknown
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

/** Node's timers count milliseconds in 32 bits; a longer timeout would fire immediately. */
const TIMEOUT_MAX = '1d'

/** More than any cluster has. */
export const STANDBYS_MAX = 100

/** Long enough for a consumer to reconnect. */
const KEEP_CHANGES_MIN = '1m'

/** Longer than any consumer can be expected to be down. */
const KEEP_CHANGES_MAX = '3650d'

/** All settings by name, in the order of `--help`. A flag and its variable are derived from the name. */
export const settings = {
  host: {
    argument: '<address>',
    description: 'the address to listen on; localhost means both 127.0.0.1 and ::1',
    default: '127.0.0.1',
    read: nonEmptyString,
  },
  port: {
    argument: '<number>',
    description: 'the port to listen on; 0 picks a free one',
    default: '3000',
    read: integer(0, 65_535),
  },
  adminPort: {
    argument: '<port>',
    description:
      'serve metrics and health checks on this port of 127.0.0.1, or at an address such as 0.0.0.0:3001, without a token',
    read: endpoint,
  },
  tlsCertificate: {
    argument: '<file>',
    description: 'serve HTTPS with this PEM certificate chain; reloaded when the file changes',
    read: nonEmptyString,
  },
  tlsKey: {
    argument: '<file>',
    description: 'the PEM private key of that certificate',
    read: nonEmptyString,
  },
  database: {
    argument: '<location>',
    description:
      'where to store the plants: a file, a PostgreSQL server such as postgres://user@host1,host2/name, or :memory: to keep them only until the process ends',
    default: 'data/plants.db',
    read: nonEmptyString,
  },
  contract: {
    argument: '<file>',
    description:
      'extend plants by the fields in this OpenAPI Overlay file, such as data/nursery.yaml',
    read: nonEmptyString,
  },
  hideFields: {
    argument: '[on|off]',
    description:
      'start without --contract although the database has own fields, which are hidden and keep their values',
    default: 'off',
    bareFlag: 'on',
    read: onOff,
  },
  keepChanges: {
    argument: '<duration>',
    description: 'how long to retain changes for GET /changes and webhooks',
    default: '7d',
    read: duration(KEEP_CHANGES_MAX, KEEP_CHANGES_MIN),
  },
  keepChangesBytes: {
    argument: '<bytes>',
    description: 'how much space retained changes can take; the oldest ones are deleted first',
    default: '1073741824',
    read: integer(2 ** 20, 2 ** 50),
  },
  allowPrivateWebhooks: {
    argument: '[on|off]',
    description: 'also deliver webhooks to private addresses and over plain HTTP, for development',
    default: 'off',
    bareFlag: 'on',
    read: onOff,
  },
  logLevel: {
    argument: '<level>',
    description: `the minimum level to log: ${LOG_LEVELS.join(', ')}`,
    default: 'info',
    read: oneOf(LOG_LEVELS),
  },
  logRequests: {
    argument: '[which]',
    description: 'log one line per request: all, changes (requests that can modify data) or off',
    default: 'off',
    bareFlag: 'all',
    read: logRequests,
  },
  page: {
    argument: '[on|off]',
    description: 'serve the page for browsers at /',
    default: 'on',
    bareFlag: 'on',
    read: onOff,
  },
  docs: {
    argument: '[on|off]',
    description: 'serve the docs and the contract',
    default: 'on',
    bareFlag: 'on',
    read: onOff,
  },
  bodyLimit: {
    argument: '<bytes>',
    description: 'the largest request body accepted',
    default: '1048576',
    read: integer(1, 2 ** 30),
  },
  requestTimeout: {
    argument: '<duration>',
    description: 'how long a request can take to arrive',
    default: '10s',
    read: duration(TIMEOUT_MAX),
  },
  keepAliveTimeout: {
    argument: '<duration>',
    description:
      'how long a connection can be idle between requests; should be longer than in a proxy or load balancer in front of the service',
    default: '72s',
    read: duration(TIMEOUT_MAX),
  },
  maxConnections: {
    argument: '<number>',
    description: 'the maximum number of open connections',
    default: '2048',
    read: integer(1, 2 ** 20),
  },
  authFailureLimit: {
    argument: '<rate>',
    description: 'failed authentications allowed per address, averaged over ten periods; or off',
    default: '100/s',
    read: rate,
  },
  rateLimit: {
    argument: '<rate>',
    description: 'requests allowed per token, such as 1000/s; or off',
    default: 'off',
    read: rate,
  },
  oidcIssuer: {
    argument: '<url>',
    description:
      'also accept access tokens of this OpenID Connect issuer, such as https://id.example/realms/plants',
    read: issuer,
  },
  oidcAudience: {
    argument: '<name>',
    description: 'the audience that tokens of the issuer must have',
    read: nonEmptyString,
  },
  oidcReadScope: {
    argument: '<scope>',
    description: "the issuer's scope for reading",
    default: 'plants:read',
    read: scope,
  },
  oidcWriteScope: {
    argument: '<scope>',
    description: "the issuer's scope for writing",
    default: 'plants:write',
    read: scope,
  },
  oidcClientId: {
    argument: '<id>',
    description: 'the public client of the issuer with which people sign in at /',
    read: nonEmptyString,
  },
  publicUrl: {
    argument: '<url>',
    description:
      'the URL at which clients reach the service, if it differs from the address that it listens on, such as https://example.com/plants',
    read: publicUrl,
  },
  corsOrigin: {
    argument: '<origins>',
    description:
      'origins of web apps that can call the service from a browser, such as https://app.example,http://localhost:5173; or * for all',
    read: origins,
  },
  trustProxy: {
    argument: '<networks>',
    description: 'proxies whose X-Forwarded-For header is trusted, such as 10.0.0.0/8,::1',
    read: networks,
  },
  threads: {
    argument: '<number|auto>',
    description:
      'how many threads serve HTTP, with SQLite only; auto means one on up to two processors, otherwise one fewer than there are, at most 8',
    default: 'auto',
    read: threads,
  },
  lockTimeout: {
    argument: '<duration>',
    description: 'how long to wait for a locked SQLite file or a PostgreSQL server',
    default: '5s',
    read: duration(TIMEOUT_MAX),
  },
  requireStandbys: {
    argument: '<number>',
    description: 'how many PostgreSQL standbys must have a change before it is acknowledged',
    read: integer(0, STANDBYS_MAX),
  },
  shutdownTimeout: {
    argument: '<duration>',
    description: 'how long to wait for requests in flight when the service stops',
    default: '10s',
    read: duration(TIMEOUT_MAX),
  },
  seed: {
    argument: '<file>',
    description: 'import this file before serving: NDJSON, CSV or JSON, depending on its extension',
    read: seed,
  },
  faults: {
    argument: '<file>',
    description:
      'make requests fail as this JSON file describes, in tests: requires --database :memory: and --admin-port',
    read: faults,
  },
  readyJson: {
    argument: '[on|off]',
    description: 'print one line of JSON when ready, instead of the startup message',
    default: 'off',
    bareFlag: 'on',
    read: onOff,
  },
} as const satisfies { readonly [name: string]: Setting }

export type SettingName = keyof typeof settings

export const settingNames = keysOf(settings)

export const VARIABLE_PREFIX = 'PLANT_STORE_'

/** The flag of a setting, such as `--log-level`. */
export function toFlag(name: SettingName): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

/** The environment variable of a setting, such as `PLANT_STORE_LOG_LEVEL`. */
export function toVariable(name: SettingName): string {
  return VARIABLE_PREFIX + name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()
}
