import { StoreError } from '../../shared/store-error.ts'

/** A parsed connection string. */
export interface Address {
  /** A connection string for each host, in order. */
  readonly urls: readonly string[]
  /** The connection string without the password and the parameters, for messages. */
  readonly redacted: string
  readonly hasPassword: boolean
}

/**
 * Scheme, user and password, hosts, path, and parameters. The parts that are shown exclude `@`, which could otherwise
 * follow part of an unescaped password.
 */
const URL_PARTS = /^(postgres(?:ql)?:\/\/)(?:([^/?#]*)@)?([^@/?#]*)(\/[^@?#]*)?(\?.*)?$/

/**
 * Parses a connection string in libpq's form, with one or more hosts separated by commas:
 * `postgres://user@host1:5432,host2/plants?sslrootcert=ca.pem`
 * (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS).
 *
 * @throws StoreError if it is malformed
 */
export function parseConnectionString(text: string): Address {
  const [, scheme, login, hosts = '', path = '', parameters = ''] = URL_PARTS.exec(text) ?? []
  const urls = hosts
    .split(',')
    .map((host) => `${scheme}${login === undefined ? '' : `${login}@`}${host}${path}${parameters}`)
  if (scheme === undefined || !urls.every((url) => URL.canParse(url))) {
    // Without the string itself, which may contain a password.
    throw new StoreError(
      'invalid database URL: expected one such as postgres://user:password@host1:5432,host2:5432/plants',
    )
  }
  const [user, password] = (login ?? '').split(':')
  return {
    urls,
    redacted: `${scheme}${user ? `${user}@` : ''}${hosts}${path}`,
    hasPassword: Boolean(password) || new URLSearchParams(parameters).has('password'),
  }
}
