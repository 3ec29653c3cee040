import { inspect } from 'node:util'
import type { FastifyBaseLogger } from 'fastify'
import { propertiesOf } from '../../core/known.ts'
import { systemClock } from '../../core/time/clock.ts'
import { shareResult } from '../../core/time/shared-result.ts'
import type { Config } from '../config/config.ts'
import { fetchBounded } from '../system/bounded-fetch.ts'
import { codeOf, messageOf } from '../system/user-errors.ts'

/** The issuer is asked at most this often, no matter who sends tokens, and whether or not it responds. */
const COOLDOWN_MS = 10_000

/** How long the issuer can take to respond. */
const TIMEOUT_MS = 5000

/** More than any issuer publishes. */
const RESPONSE_BYTES_MAX = 2 ** 18

/** The result of the last attempt to read the keys. */
export interface KeysReading {
  /** The issuer's JSON Web Key Set; undefined if it could not be read. */
  readonly json: string | undefined
  /** Whether it was read for this call, rather than for an earlier one. */
  readonly isNew: boolean
  /** How long until the issuer can be asked again. */
  readonly retryAfterMs: number
}

export type ReadKeys = () => Promise<KeysReading>

/**
 * Creates a function that finds the issuer's keys by OpenID Connect Discovery 1.0. It reads them at most once per
 * cooldown and never rejects: failures are logged.
 */
export function issuerKeys(
  { oidcIssuer: issuer }: Pick<Config, 'oidcIssuer'>,
  log?: FastifyBaseLogger,
  { cooldownMs = COOLDOWN_MS, timeoutMs = TIMEOUT_MS } = {},
): ReadKeys {
  let latest: string | undefined
  let reads = 0
  const read = async () => {
    reads++
    const json = await tryToRead()
    return { json, nextAt: systemClock.monotonic() + cooldownMs }
  }
  const tryToRead = async () => {
    try {
      const keys = await fetchKeys(String(issuer), AbortSignal.timeout(timeoutMs))
      if (keys !== latest) log?.info(`read new keys of ${issuer}`)
      latest = keys
      return keys
    } catch (error) {
      log?.warn(`cannot read the keys of ${issuer}: ${explain(error)}`)
      return undefined
    }
  }
  const readShared = shareResult(read, cooldownMs)
  return async () => {
    const earlierReads = reads
    const reading = readShared()
    const isNew = reads > earlierReads
    const { json, nextAt } = await reading
    return { json, isNew, retryAfterMs: nextAt - systemClock.monotonic() }
  }
}

async function fetchKeys(issuer: string, signal: AbortSignal): Promise<string> {
  const location = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const metadata = propertiesOf(parseJson(location, await fetchText(location, signal)))
  // OpenID Connect Discovery 1.0 §4.3.
  if (metadata.issuer !== issuer) {
    throw new Error(`${location} names the issuer ${quote(metadata.issuer)}`)
  }
  const url = URL.parse(String(metadata.jwks_uri))
  if (url?.protocol !== 'https:' && url?.protocol !== new URL(issuer).protocol) {
    throw new Error(`${location} has the jwks_uri ${quote(metadata.jwks_uri)}`)
  }
  const keys = await fetchText(url.href, signal)
  const { createLocalJWKSet } = await import('jose')
  const { jwks } = createLocalJWKSet(parseJson('the JSON Web Key Set', keys))
  // No token could be verified, so it is more likely a fault than the withdrawal of all keys.
  if (jwks().keys.length === 0) throw new Error('the JSON Web Key Set is empty')
  return keys
}

/** @throws Error if the response is not a success, or is too large */
async function fetchText(url: string, signal: AbortSignal): Promise<string> {
  const refuse = (fault: string) => new Error(`${quote(url)} responded with ${fault}`)
  const { body } = await fetchBounded(url, {
    redirect: 'manual',
    signal,
    bytesMax: RESPONSE_BYTES_MAX,
    refuse,
    onHead: ({ status }) => {
      if (status !== 200) throw refuse(String(status))
    },
  })
  return body.toString()
}

/** The parser's own error would quote the text. */
function parseJson(what: string, text: string) {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${what} is not JSON`)
  }
}

/** The issuer's text for the log, which must not contain control characters. */
function quote(value: unknown): string {
  return inspect(value).slice(0, 200)
}

/** `fetch` hides the reason of a failure in the cause. */
function explain(error: unknown): string {
  const { cause } = propertiesOf(error)
  const message = messageOf(error)
  return cause === undefined ? message : `${message}: ${codeOf(cause) ?? messageOf(cause)}`
}
