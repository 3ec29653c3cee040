import { isIPv6 } from 'node:net'
import type { Limit, Rate } from '../../config/setting-values.ts'
import type { SharedTable } from '../../shared-memory/shared-table.ts'
import { ApiError } from '../api-error.ts'
import { TokenBuckets } from './token-bucket.ts'

/** A limit and how to report it, in the headers of draft-ietf-httpapi-ratelimit-headers-11 among others. */
interface Policy {
  readonly name: string
  readonly code: 'too-many-failures' | 'too-many-requests'
  readonly message: string
  readonly rate: Rate
  /** How many requests a key can send at once. */
  readonly burst: number
}

/** How many windows' worth of failures an address can use at once. */
const FAILURE_BURST = 10

/** An IPv4-mapped address (RFC 4291 §2.5.5.2) as the URL parser writes it. */
const MAPPED = /^\[::ffff:([\da-f]{1,4}):([\da-f]{1,4})\]$/

/** Limits how many requests each key can send. */
export class RateLimit {
  readonly #policy: Policy
  readonly #buckets: TokenBuckets

  /** @param buckets of all keys, which threads can share */
  constructor(policy: Policy, buckets: SharedTable) {
    this.#policy = policy
    this.#buckets = new TokenBuckets(policy.rate, policy.burst, buckets)
  }

  /** @throws ApiError if the key has used up its requests */
  take(key: string): void {
    const waitMs = this.#buckets.take(key)
    if (waitMs === undefined) return
    const { name, code, message, rate, burst } = this.#policy
    const retryAfter = String(Math.ceil(waitMs / 1000))
    throw new ApiError(code, message, {
      'retry-after': retryAfter,
      ratelimit: `"${name}";r=0;t=${retryAfter}`,
      'ratelimit-policy': `"${name}";q=${burst};w=${Math.ceil((burst * rate.window) / rate.requests / 1000)}`,
    })
  }

  /** Returns a request that turned out not to count towards the limit. */
  putBack(key: string): void {
    this.#buckets.putBack(key)
  }
}

/** Limits requests without a valid token, per address; undefined if the limit is off. */
export function failureLimit(rate: Limit, buckets: SharedTable): RateLimit | undefined {
  if (rate === 'off') return undefined
  const policy: Policy = {
    name: 'failed-authentication',
    code: 'too-many-failures',
    message: 'too many requests from this address without a valid access token',
    rate,
    burst: rate.requests * FAILURE_BURST,
  }
  return new RateLimit(policy, buckets)
}

/** Limits requests with a valid token, per token; undefined if the limit is off. */
export function tokenLimit(rate: Limit, buckets: SharedTable): RateLimit | undefined {
  if (rate === 'off') return undefined
  const { requests, window } = rate
  const policy: Policy = {
    name: 'requests',
    code: 'too-many-requests',
    message: `this access token exceeded its limit of ${requests} requests in ${window / 1000} s`,
    rate,
    burst: requests,
  }
  return new RateLimit(policy, buckets)
}

/**
 * The key under which an address is limited: the address itself, or the /64 network for IPv6, because one client
 * usually has a whole /64. Anything else that a proxy sends is truncated to serve as a key. All connections that have
 * closed, whose addresses are unknown, share one key.
 */
export function addressKey(address = 'unknown'): string {
  // Some proxies add the port.
  if (!isIPv6(address)) return address.replace(/:\d*$/, '').slice(0, 15)
  // The URL parser normalizes the address (RFC 5952).
  const { hostname } = new URL(`http://[${address.replace(/%.*/, '')}]`)
  const [, high, low] = MAPPED.exec(hostname) ?? []
  if (high !== undefined && low !== undefined) return [...bytesOf(high), ...bytesOf(low)].join('.')
  const [start = '', end] = hostname.slice(1, -1).split('::')
  const groups = start === '' ? [] : start.split(':')
  const last = end ? end.split(':') : []
  const zeros = end === undefined ? 0 : 8 - groups.length - last.length
  return [...groups, ...Array(zeros).fill('0'), ...last].slice(0, 4).join(':')
}

function bytesOf(group: string): number[] {
  const value = Number.parseInt(group, 16)
  return [value >> 8, value & 0xff]
}
