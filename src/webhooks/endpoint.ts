import { isIP } from 'node:net'
import { EXCEPTION, isPublic, notPublic } from './public-addresses.ts'

/** A URL that a webhook cannot have. */
export class InvalidEndpoint extends Error {}

/** A longer URL is certainly a mistake. */
const LENGTH_MAX = 2000

/** Names of this machine (RFC 6761 §6.3). */
const LOCALHOST = /(^|\.)localhost\.?$/

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
  // An IPv6 address is in brackets.
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const isPrivate = isIP(host) === 0 ? LOCALHOST.test(host) : !isPublic(host)
  if (isPrivate) throw new InvalidEndpoint(notPublic(host))
  return url
}
