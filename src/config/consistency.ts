/** Settings that are valid on their own, but not together. */
import { isLoopback, toHosts } from '../system/loopback.ts'
import { type Config, ConfigError } from './config.ts'

/** Listening on one of these takes the port on every address. */
const ALL_ADDRESSES = ['0.0.0.0', '::']

/** @throws ConfigError for the first settings that contradict or require each other */
export function requireConsistency(config: Config): void {
  requireSeparatePorts(config)
  requireIssuer(config)
  if (config.contract !== undefined && config.hideFields) {
    throw new ConfigError(
      '--contract and --hide-fields exclude each other: only fields that are not in the contract are hidden',
    )
  }
  requireTestStore(config)
  const { tlsCertificate, tlsKey } = config
  if ((tlsCertificate === undefined) !== (tlsKey === undefined)) {
    throw new ConfigError('--tls-certificate and --tls-key go together: set both, or neither')
  }
}

function requireSeparatePorts({ adminPort, host, port }: Config): void {
  if (port === 0 || adminPort?.port !== port) return
  const hosts = toHosts(host)
  const isShared = hosts.includes(adminPort.host)
  if (isShared || [...hosts, adminPort.host].some((each) => ALL_ADDRESSES.includes(each))) {
    throw new ConfigError(`--admin-port must differ from --port, which is also ${port}`)
  }
}

function requireIssuer({ oidcIssuer, oidcAudience, oidcClientId }: Config): void {
  if (oidcIssuer !== undefined && oidcAudience === undefined) {
    throw new ConfigError(
      '--oidc-issuer requires --oidc-audience, because other services can have tokens of the same issuer',
    )
  }
  if (oidcIssuer !== undefined) return
  if (oidcAudience !== undefined) throw new ConfigError('--oidc-audience requires --oidc-issuer')
  if (oidcClientId !== undefined) throw new ConfigError('--oidc-client-id requires --oidc-issuer')
}

/** A store that fails on demand must never be one that others rely on. */
function requireTestStore({ faults, database, adminPort }: Config): void {
  if (faults === undefined) return
  if (database !== ':memory:') {
    throw new ConfigError('--faults is only for tests: it requires --database :memory:')
  }
  if (adminPort !== undefined && !isLoopback(adminPort.host)) {
    throw new ConfigError(
      `--faults is only for tests: it requires an --admin-port of this machine, not of ${adminPort.host}`,
    )
  }
}

/**
 * The command needs the admin port: without it, nobody could change the faults or read the requests. An embedding
 * program has methods for that.
 *
 * @throws ConfigError
 */
export function requireFaultsPort({ faults, adminPort }: Config): void {
  if (faults === undefined || adminPort !== undefined) return
  throw new ConfigError(
    '--faults requires --admin-port, where faults are changed and requests are read',
  )
}
