import { isIPv6 } from 'node:net'
import type { Limit, Rate } from '../config/setting-values.ts'
import { ApiError } from './api-error.ts'
import { TokenBuckets } from './token-bucket.ts'

/** A limit, with a name for the headers of draft-ietf-httpapi-ratelimit-headers-11. */
interface Policy {
  readonly name: string
  readonly condition: 'too-many-failures' | 'too-many-requests'
  readonly message: string
  readonly rate: Rate
  /** How many requests a burst may have. */
  readonly burst: number
}

/** A burst of failed authentication may use this many windows at once. */
const FAILURE_BURST = 10

/** Limits how many requests each key may send. */
export class RateLimit {
  readonly #policy: Policy
  readonly #buckets: TokenBuckets

  constructor(policy: Policy) {
    this.#policy = policy
    this.#buckets = new TokenBuckets(policy.rate, policy.burst)
  }

  /** @throws ApiError if the key has used up its requests */
  take(key: string): void {
    const wait = this.#buckets.take(key)
    if (wait === undefined) return
    const { name, condition, message, rate, burst } = this.#policy
    const retryAfter = String(Math.ceil(wait / 1000))
    throw new ApiError(condition, message, {
      'retry-after': retryAfter,
      ratelimit: `"${name}";r=0;t=${retryAfter}`,
      'ratelimit-policy': `"${name}";q=${burst};w=${Math.ceil((burst * rate.window) / rate.requests / 1000)}`,
    })
  }

  /** Returns a request that turned out not to count. */
  putBack(key: string): void {
    this.#buckets.putBack(key)
  }
}

/** Limits requests without a valid token per address; undefined if the limit is off. */
export function failureLimit(rate: Limit): RateLimit | undefined {
  if (rate === 'off') return undefined
  return new RateLimit({
    name: 'failed-authentication',
    condition: 'too-many-failures',
    message: 'too many requests without a valid access token from this address',
    rate,
    burst: rate.requests * FAILURE_BURST,
  })
}

/** Limits requests per token; undefined if the limit is off. */
export function tokenLimit(rate: Limit): RateLimit | undefined {
  if (rate === 'off') return undefined
  const { requests, window } = rate
  return new RateLimit({
    name: 'requests',
    condition: 'too-many-requests',
    message: `this access token is limited to ${requests} requests per ${window / 1000} s`,
    rate,
    burst: requests,
  })
}

/**
 * The key to limit an address by: the address itself, or the /64 network for IPv6, because one client usually has a
 * whole /64. Anything else that a proxy sends is a key of its own, and so is the unknown address of a closed
 * connection.
 */
export function addressKey(address = 'unknown'): string {
  const [, ipv4] = /^::ffff:([\d.]+)$/i.exec(address) ?? []
  if (ipv4 !== undefined) return ipv4
  // Some proxies add the port.
  if (!isIPv6(address)) return address.replace(/:\d*$/, '').slice(0, 15)
  // The URL parser normalizes the address (RFC 5952).
  const { hostname } = new URL(`http://[${address.replace(/%.*/, '')}]`)
  const [start = '', end] = hostname.slice(1, -1).split('::')
  const groups = start === '' ? [] : start.split(':')
  const last = end ? end.split(':') : []
  const zeros = end === undefined ? 0 : 8 - groups.length - last.length
  return [...groups, ...Array(zeros).fill('0'), ...last].slice(0, 4).join(':')
}
