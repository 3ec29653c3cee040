/**
 * Decides which connections are encrypted and how the server is verified. The settings are libpq's, except the modes
 * that accept any server: https://www.postgresql.org/docs/current/libpq-ssl.html.
 */

import { readFileSync } from 'node:fs'
import { type ConnectionOptions, createSecureContext, getCACertificates } from 'node:tls'
import pg from 'pg'
import { isLoopback } from '../../../system/loopback.ts'
import { messageOf } from '../../../system/user-errors.ts'
import { StoreError } from '../../shared/store-error.ts'

/** How to connect to a host. */
export interface Server {
  readonly options: Pick<pg.ClientConfig, 'connectionString' | 'ssl'>
  /** Describes whether connections are encrypted and how the server is verified. */
  readonly encryption: string
}

/** libpq's TLS parameters of a connection string, each with its environment variable. */
const VARIABLES = {
  sslmode: 'PGSSLMODE',
  sslrootcert: 'PGSSLROOTCERT',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
} as const

type TlsSettings = { readonly [Name in keyof typeof VARIABLES]?: string | undefined }

const MODES = [undefined, 'disable', 'verify-ca', 'verify-full']

/** The value of sslrootcert that means the system's authorities rather than a file. */
const SYSTEM = 'system'

/**
 * The options of `pg` for connection strings that differ only in their host.
 *
 * @throws StoreError if they ask for an unverified connection, or a file is unusable
 */
export function toServers(urls: readonly string[]): Server[] {
  let verified: ConnectionOptions | undefined
  return urls.map((text) => {
    const url = new URL(text)
    const settings = takeSettings(url)
    const connectionString = url.href
    // The host comes from the connection string, PGHOST or the driver's default.
    const { host } = new pg.Client({ connectionString, ssl: true })
    const plain = findPlainReason(host, settings)
    if (plain !== undefined) {
      return { options: { connectionString, ssl: false }, encryption: `not encrypted: ${plain}` }
    }
    // Shared, because loading the system's authorities takes 0.1 s.
    verified ??= createVerification(settings)
    const encryption = `encrypted; ${describeIdentity(host, settings)}`
    return { options: { connectionString, ssl: verified }, encryption }
  })
}

/**
 * Removes the TLS settings from a connection string, where they would take precedence over the `ssl` option of `pg`.
 * Settings that it lacks come from the environment. An empty value counts as unset.
 *
 * @throws StoreError if there are other TLS parameters, which would be unsafe to ignore
 */
function takeSettings({ searchParams }: URL): TlsSettings {
  const settings = Object.entries(VARIABLES).map(([name, variable]) => {
    const value = searchParams.getAll(name).at(-1) || process.env[variable]
    searchParams.delete(name)
    return [name, value || undefined]
  })
  const unknown = [...searchParams.keys()].find((name) => /^ssl/i.test(name))
  if (unknown !== undefined) {
    throw new StoreError(
      `unknown TLS parameter ${unknown} in the database URL: expected one of ${Object.keys(VARIABLES).join(', ')}`,
    )
  }
  return Object.fromEntries(settings)
}

/**
 * Why connections to a host are not encrypted; undefined if they are.
 *
 * @throws StoreError if the mode does not verify the server
 */
function findPlainReason(host: string, settings: TlsSettings): string | undefined {
  // As with libpq, regardless of sslmode.
  if (host.startsWith('/')) return 'the server is reached through a Unix socket'
  const { sslmode, sslrootcert = SYSTEM } = settings
  if (!MODES.includes(sslmode)) {
    throw new StoreError(
      `sslmode=${sslmode} is not supported: use verify-full (the default; for a private certificate authority, set ` +
        'sslrootcert to its file), or disable, which sends passwords and plants in plain text',
    )
  }
  if (sslmode === 'verify-ca' && sslrootcert === SYSTEM) {
    throw new StoreError(
      'sslmode=verify-ca needs sslrootcert to name a file, because public authorities issue certificates to anyone',
    )
  }
  if (sslmode === 'disable') return 'sslmode=disable'
  if (Object.values(settings).some((value) => value !== undefined)) return undefined
  return isLoopback(host) ? 'the server is on this machine' : undefined
}

/** @throws StoreError */
function createVerification(settings: TlsSettings): ConnectionOptions {
  const { sslmode, sslrootcert = SYSTEM, sslcert, sslkey } = settings
  try {
    const secureContext = createSecureContext({
      minVersion: 'TLSv1.2',
      ca: sslrootcert === SYSTEM ? getSystemAuthorities() : readFileSync(sslrootcert),
      ...(sslcert && { cert: readFileSync(sslcert) }),
      ...(sslkey && { key: readFileSync(sslkey) }),
    })
    return {
      secureContext,
      // Overrides NODE_TLS_REJECT_UNAUTHORIZED.
      rejectUnauthorized: true,
      ...(sslmode === 'verify-ca' && { checkServerIdentity: () => undefined }),
    }
  } catch (error) {
    throw new StoreError(
      `cannot load the certificates in sslrootcert, sslcert or sslkey: ${messageOf(error)}`,
    )
  }
}

function describeIdentity(host: string, { sslmode, sslrootcert = SYSTEM }: TlsSettings): string {
  const trusted =
    sslrootcert === SYSTEM
      ? "the system's certificate authorities"
      : `the certificate authorities in ${sslrootcert}`
  return `server verified ${sslmode === 'verify-ca' ? 'under any name' : `as ${host}`} against ${trusted}`
}

/** Falls back to Node's own list, because small container images have none. */
function getSystemAuthorities(): string[] {
  const system = getCACertificates('system')
  if (system.length === 0) return getCACertificates('default')
  return [...system, ...getCACertificates('extra')]
}
