import { StoreError } from '../store-error.ts'

/** A database on a server, which several hosts may have. */
export interface Address {
  /** A connection string for each host, in their order. */
  readonly urls: readonly string[]
  /** All of it but the password and what else may be secret, to be shown. */
  readonly shown: string
  readonly hasPassword: boolean
}

/**
 * Scheme, user and password, hosts, and what is behind them. No part that is shown may have an `@` in it:
 * what is in front of it would be of a password that was not escaped.
 */
const URL_PARTS = /^(postgres(?:ql)?:\/\/)(?:([^/?#]*)@)?([^@/?#]*)(\/[^@?#]*)?(\?.*)?$/

/**
 * Takes apart a connection string of libpq's form, which may name several hosts with a comma between:
 * `postgres://user@host1:5432,host2/plants?sslrootcert=ca.pem`
 * (https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS).
 *
 * @throws StoreError if it is none
 */
export function parseConnectionString(text: string): Address {
  const [, scheme, login, hosts = '', path = '', parameters = ''] = URL_PARTS.exec(text) ?? []
  const urls = hosts
    .split(',')
    .map((host) => `${scheme}${login === undefined ? '' : `${login}@`}${host}${path}${parameters}`)
  if (scheme === undefined || !urls.every((url) => URL.canParse(url))) {
    // Not the text itself, as there may be a password in it.
    throw new StoreError(
      'the database is not a URL such as postgres://user:password@host1:5432,host2:5432/plants',
    )
  }
  const [user, password] = (login ?? '').split(':')
  return {
    urls,
    shown: `${scheme}${user ? `${user}@` : ''}${hosts}${path}`,
    hasPassword: Boolean(password) || new URLSearchParams(parameters).has('password'),
  }
}
