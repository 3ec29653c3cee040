/** Rejects request lines and headers that Node's parser accepts but RFC 9110 and 9112 do not. */
import type { IncomingMessage } from 'node:http'
import { isIPv6 } from 'node:net'
import { ApiError } from '../responses/api-error.ts'

/** `uri-host [ ":" port ]` (RFC 9110 §4.2.1), where the host is a name or an IPv4 address (RFC 3986 §3.2.2). */
const NAME_AND_PORT = /^(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*(?::\d*)?$/i

/** The same for an IP literal. Group 1 looks like an IPv6 address. */
const LITERAL_AND_PORT = /^\[(?:([\da-f:.]+)|v[\da-f]+\.[\w.~!$&'()*+,;=:-]+)\](?::\d*)?$/i

const ABSOLUTE_FORM = /^http(s?):\/\/([^/?#:][^/?#]*)(.*)/is

/** Counts of headers that must not be repeated. Node keeps the first and drops the others. */
export interface Repetitions {
  hosts: number
  authorizations: number
  contentTypes: number
}

/** Counts those headers in a request. Compares lengths first, because it runs for every header of every request. */
export function countRepetitions({ rawHeaders }: IncomingMessage): Repetitions {
  const found: Repetitions = { hosts: 0, authorizations: 0, contentTypes: 0 }
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = String(rawHeaders[index])
    if (name.length === 4 && name.toLowerCase() === 'host') found.hosts++
    else if (name.length === 12 && name.toLowerCase() === 'content-type') found.contentTypes++
    else if (name.length === 13 && name.toLowerCase() === 'authorization') found.authorizations++
  }
  return found
}

/**
 * Reduces a request target that is a URL (absolute-form, RFC 9112 §3.2.2) to its path and query before routing.
 * Invalid targets stay unchanged, as do https URLs on a connection that is not secure (RFC 9110 §7.4). They are not
 * paths, so they are rejected after authentication.
 *
 * @param isSecure whether all connections are encrypted or come from a trusted gateway
 */
export function rewriteUrlTarget(request: IncomingMessage, isSecure: boolean): void {
  const { url = '' } = request
  if (isPath(url)) return
  const { isHttps, path } = parseUrl(url) ?? {}
  if (path !== undefined && (isSecure || !isHttps)) request.url = path
}

function parseUrl(target: string): { isHttps: boolean; path: string } | undefined {
  const [, s = '', authority = '', rest = ''] = ABSOLUTE_FORM.exec(target) ?? []
  if (authority === '' || !isAuthority(authority)) return undefined
  return { isHttps: s !== '', path: isPath(rest) ? rest : `/${rest}` }
}

/** Whether a target, after `rewriteUrlTarget`, is a path. */
export function isPath(target: string): boolean {
  return target.charCodeAt(0) === 0x2f
}

/** The error for a target that is not a path. `*` is only for OPTIONS (RFC 9112 §3.2.4). */
export function targetError(target: string): ApiError {
  if (parseUrl(target) !== undefined) {
    return new ApiError(
      'misdirected-request',
      'the request target is an https URL, but the connection is not encrypted',
    )
  }
  return new ApiError(
    'malformed-request',
    target === '*'
      ? 'the request target * is only for OPTIONS'
      : 'the request target must be a path or an http URL',
  )
}

/** The error for headers that are invalid in every request; undefined if they are valid. */
export function headersError(
  { headers, httpVersion }: IncomingMessage,
  { hosts, contentTypes }: Repetitions,
): ApiError | undefined {
  // A proxy in front of us may use a different one of them (RFC 9112 §3.2).
  if (hosts > 1) return repeatedHeader('Host')
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return unsupportedVersion(httpVersion)
  if (hosts === 0 && httpVersion === '1.1') return malformed('no Host header')
  if (!isAuthority(headers.host ?? '')) return malformed('an invalid Host header')
  if (contentTypes > 1) return repeatedHeader('Content-Type')
  const coding = headers['transfer-encoding']
  return coding === undefined ? undefined : codingError(coding, httpVersion)
}

/** The error for a version of HTTP whose major version is not 1 (RFC 9110 §15.6.6). */
export function unsupportedVersion(httpVersion: string): ApiError {
  return new ApiError(
    'unsupported-http-version',
    `unsupported HTTP version ${httpVersion}: expected 1.1 or 1.0`,
  )
}

/** The error for a header that must not be repeated. */
export function repeatedHeader(header: string): ApiError {
  return malformed(`more than one ${header} header`)
}

function malformed(what: string, headers?: Record<string, string>): ApiError {
  return new ApiError('malformed-request', `the request has ${what}`, headers)
}

function isAuthority(text: string): boolean {
  if (NAME_AND_PORT.test(text)) return true
  const [literal, ipv6 = '::'] = LITERAL_AND_PORT.exec(text) ?? []
  return literal !== undefined && isIPv6(ipv6)
}

/** The parser ensures that `chunked` occurs only once, as the last coding, and decodes it. */
function codingError(coding: string, httpVersion: string): ApiError | undefined {
  if (httpVersion === '1.0') {
    // RFC 9112 §6.1: the end of the body is uncertain, so nothing after it can be trusted.
    return malformed('a Transfer-Encoding header, which HTTP/1.0 does not define', {
      connection: 'close',
    })
  }
  const codings = coding.split(',').filter((element) => element.trim() !== '')
  if (codings.length === 1) return undefined
  return new ApiError(
    'unsupported-transfer-coding',
    `unsupported Transfer-Encoding "${coding}": expected chunked`,
  )
}
