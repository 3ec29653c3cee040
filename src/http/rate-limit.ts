import { isIPv6 } from 'node:net'
import type { Limit, Rate } from '../setting-values.ts'
import { Failure } from './failure.ts'
import { TokenBuckets } from './token-bucket.ts'

/** A limit, named as the headers of draft-ietf-httpapi-ratelimit-headers-11 want it. */
interface Policy {
  readonly name: string
  readonly condition: 'too-many-failures' | 'too-many-requests'
  readonly message: string
  readonly rate: Rate
  /** How many requests may come at once. */
  readonly burst: number
}

/** Of failed authentication, a client may use up this many windows at once. */
const FAILURE_BURST = 10

/** Limits how many requests each key may send. */
export class RateLimit {
  readonly #policy: Policy
  readonly #buckets: TokenBuckets

  constructor(policy: Policy) {
    this.#policy = policy
    this.#buckets = new TokenBuckets(policy.rate, policy.burst)
  }

  /** @throws Failure if the key has used up its requests */
  take(key: string): void {
    const wait = this.#buckets.take(key)
    if (wait === undefined) return
    const { name, condition, message, rate, burst } = this.#policy
    const retryAfter = String(Math.ceil(wait / 1000))
    throw new Failure(condition, message, {
      'retry-after': retryAfter,
      ratelimit: `"${name}";r=0;t=${retryAfter}`,
      'ratelimit-policy': `"${name}";q=${burst};w=${Math.ceil((burst * rate.window) / rate.requests / 1000)}`,
    })
  }

  /** Takes back what turned out not to count. */
  putBack(key: string): void {
    this.#buckets.putBack(key)
  }
}

/** For requests of one address that carry no valid token; undefined if they are not limited. */
export function failureLimit(rate: Limit): RateLimit | undefined {
  if (rate === 'off') return undefined
  return new RateLimit({
    name: 'failed-authentication',
    condition: 'too-many-failures',
    message: 'too many requests without a valid access token came from this address',
    rate,
    burst: rate.requests * FAILURE_BURST,
  })
}

/** For requests of one token; undefined if they are not limited. */
export function tokenLimit(rate: Limit): RateLimit | undefined {
  if (rate === 'off') return undefined
  const { requests, window } = rate
  return new RateLimit({
    name: 'requests',
    condition: 'too-many-requests',
    message: `this access token allows ${requests} requests in ${window / 1000} s`,
    rate,
    burst: requests,
  })
}

/**
 * What an address counts as: itself, or the network of an IPv6 address, whose owner has all 2^64 addresses of
 * it. Whatever else a proxy may say is one more address, and so are connections that closed at once.
 */
export function addressKey(address = 'unknown'): string {
  const [, ipv4] = /^::ffff:([\d.]+)$/i.exec(address) ?? []
  if (ipv4 !== undefined) return ipv4
  if (!isIPv6(address)) return address.slice(0, 15)
  // A URL has the one spelling of an address that RFC 5952 recommends.
  const { hostname } = new URL(`http://[${address.replace(/%.*/, '')}]`)
  const [start = '', end] = hostname.slice(1, -1).split('::')
  const groups = start === '' ? [] : start.split(':')
  const last = end ? end.split(':') : []
  const zeros = end === undefined ? 0 : 8 - groups.length - last.length
  return [...groups, ...Array(zeros).fill('0'), ...last].slice(0, 4).join(':')
}
