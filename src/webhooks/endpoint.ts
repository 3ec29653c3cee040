import { isIP } from 'node:net'
import { isPublic } from './public-addresses.ts'

/** A URL that a webhook cannot have. */
export class InvalidEndpoint extends Error {}

/** A longer URL is certainly a mistake. */
const LENGTH_MAX = 2000

/** Names of this machine (RFC 6761 §6.3). */
const LOCALHOST = /(^|\.)localhost\.?$/

/** The option that lifts the requirements for endpoints. */
export const EXCEPTION = '--allow-private-webhooks'

/**
 * Parses the URL of a webhook. The addresses of a host name are checked when the connection is made.
 *
 * @param allowPrivate whether it can use plain HTTP, and a private address
 * @throws InvalidEndpoint
 */
export function parseEndpoint(text: string, allowPrivate: boolean): URL {
  const url = URL.parse(text)
  if (url === null || text.length > LENGTH_MAX || !/^https?:$/.test(url.protocol)) {
    throw new InvalidEndpoint('expected a URL such as https://receiver.example/webhooks')
  }
  if (url.username !== '' || url.password !== '') {
    throw new InvalidEndpoint('the URL must not contain a user name or password')
  }
  if (url.hash !== '') throw new InvalidEndpoint('the URL must not contain a fragment (#…)')
  if (allowPrivate) return url
  if (url.protocol === 'http:') {
    throw new InvalidEndpoint(`webhooks require https, except with ${EXCEPTION}`)
  }
  const host = hostOf(url)
  const isPrivate = isIP(host) === 0 ? LOCALHOST.test(host) : !isPublic(host)
  if (isPrivate) throw new InvalidEndpoint(notPublic(host))
  return url
}

/** The host of a URL, with an IPv6 address in the form without brackets. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}

/** Why a delivery to an address is refused. */
export function notPublic(address: string): string {
  return `${address} is not a public address, and is allowed only with ${EXCEPTION}`
}
