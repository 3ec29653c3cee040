/**
 * Decides which connections are encrypted and how the server is verified. The settings are libpq's, except the modes
 * that accept any server: https://www.postgresql.org/docs/current/libpq-ssl.html.
 */
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type ConnectionOptions, createSecureContext, getCACertificates } from 'node:tls'
import pg from 'pg'
import { isLoopback } from '../../../loopback.ts'
import { StoreError } from '../../store-error.ts'
import {
  readTlsSettings,
  type TlsSetting,
  type TlsSettings,
  withoutTlsSettings,
} from './tls-settings.ts'

/** How to connect to a host. */
export interface Server {
  readonly options: Pick<pg.ClientConfig, 'connectionString' | 'ssl'>
  /** Describes whether connections are encrypted and how the server is verified. */
  readonly encryption: string
}

/** Modes of libpq, and one of `pg`, that accept any server. */
const UNVERIFIED = ['allow', 'prefer', 'require', 'no-verify']

/** The value of sslrootcert that means the system's authorities rather than a file. */
const SYSTEM = 'system'

const DEFAULT_MODE: TlsSetting = { name: 'sslmode', value: 'verify-full' }

/**
 * The options of `pg` for connection strings that differ only in their host.
 *
 * @throws StoreError if they ask for an unverified connection, or a file is unusable
 */
export function toServers(urls: readonly string[]): Server[] {
  const settings = readTlsSettings(String(urls[0]))
  let verified: ConnectionOptions | undefined
  return urls.map((url) => {
    const connectionString = withoutTlsSettings(url)
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

/** Why connections to a host are not encrypted; undefined if they are. */
function findPlainReason(host: string, settings: TlsSettings): string | undefined {
  // As with libpq, regardless of sslmode.
  if (host.startsWith('/')) return 'the server is reached through a Unix socket'
  const { sslmode } = settings
  if (sslmode?.value === 'disable') return `${sslmode.name}=disable`
  if (Object.keys(settings).length > 0) return undefined
  return isLoopback(host) ? 'the server is on this machine' : undefined
}

/** @throws StoreError */
function createVerification({
  sslmode,
  sslrootcert,
  sslcert,
  sslkey,
}: TlsSettings): ConnectionOptions {
  const file = sslrootcert?.value === SYSTEM ? undefined : sslrootcert
  const mode = parseMode(sslmode)
  if (mode === 'verify-ca' && file === undefined) {
    throw new StoreError(
      'sslmode=verify-ca needs sslrootcert to name a file, because public authorities issue certificates to anyone',
    )
  }
  if ((sslcert === undefined) !== (sslkey === undefined)) {
    throw new StoreError('sslcert and sslkey go together: set both, or neither')
  }
  const secureContext = createContext({
    minVersion: 'TLSv1.2',
    ca: file === undefined ? getSystemAuthorities() : readAuthorities(file),
    ...(sslcert && { cert: read(sslcert) }),
    ...(sslkey && { key: read(sslkey) }),
  })
  return {
    secureContext,
    // Overrides NODE_TLS_REJECT_UNAUTHORIZED.
    rejectUnauthorized: true,
    ...(mode === 'verify-ca' && { checkServerIdentity: () => undefined }),
  }
}

/** @throws StoreError if the mode does not verify the server */
function parseMode(sslmode: TlsSetting = DEFAULT_MODE): 'verify-full' | 'verify-ca' {
  const { name, value } = sslmode
  if (value === 'verify-full' || value === 'verify-ca') return value
  const problem = UNVERIFIED.includes(value)
    ? `${name}=${value} is not supported because it accepts any server`
    : `unknown ${name}=${value}`
  throw new StoreError(
    `${problem}: use verify-full (the default; for a private certificate authority, set sslrootcert to its ` +
      'file), or disable, which sends passwords and plants in plain text',
  )
}

function describeIdentity(host: string, { sslmode, sslrootcert }: TlsSettings): string {
  const authorities = sslrootcert === undefined ? SYSTEM : sslrootcert.value
  const trusted =
    authorities === SYSTEM
      ? "the system's certificate authorities"
      : `the certificate authorities in ${authorities}`
  const name = sslmode?.value === 'verify-ca' ? 'under any name' : `as ${host}`
  return `server verified ${name} against ${trusted}`
}

/** Falls back to Node's own list, because small container images have none. */
function getSystemAuthorities(): string[] {
  const system = getCACertificates('system')
  if (system.length === 0) return getCACertificates('default')
  return [...system, ...getCACertificates('extra')]
}

function readAuthorities(setting: TlsSetting): Buffer {
  const authorities = read(setting)
  try {
    // Node treats text without certificates as an empty list.
    new X509Certificate(authorities)
  } catch {
    throw new StoreError(`${setting.value} (${setting.name}): expected certificates in PEM`)
  }
  return authorities
}

function read({ name, value }: TlsSetting): Buffer {
  try {
    return readFileSync(value)
  } catch (error) {
    throw new StoreError(`cannot read ${value} (${name}): ${(error as Error).message}`)
  }
}

function createContext(options: Parameters<typeof createSecureContext>[0]) {
  try {
    return createSecureContext(options)
  } catch (error) {
    const reason = (error as Error).message
    throw new StoreError(
      `sslcert and sslkey: expected a certificate and its key in PEM (${reason})`,
    )
  }
}
