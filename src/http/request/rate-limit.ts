import { isIPv6 } from 'node:net'
import { normalizeIP, type RateLimitOptions } from '@fastify/rate-limit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Limit } from '../../config/setting-values.ts'
import { ApiError } from '../responses/api-error.ts'

/** How many windows' worth of failures an address can use at once. */
const FAILURE_BURST = 10

/** How many keys a limit remembers. Beyond that, it forgets the one that sent no request for the longest time. */
const KEYS_MAX = 10_000

type Limiter = ReturnType<FastifyInstance['createRateLimit']>
type Count = Extract<Awaited<ReturnType<Limiter>>, { isAllowed: false }>

interface Policy {
  /** In the headers of draft-ietf-httpapi-ratelimit-headers-11. */
  readonly name: string
  readonly code: 'too-many-failures' | 'too-many-requests'
  readonly message: string
  /** How many requests each key can send within a window. */
  readonly requests: number
  readonly windowMs: number
  readonly keyOf: (request: FastifyRequest) => string
}

/** Limits how many requests each key can send, with @fastify/rate-limit. Each HTTP thread counts its own requests. */
export class RateLimit {
  readonly #policy: Policy
  readonly #create: () => Limiter
  #limiter: Limiter

  constructor(app: FastifyInstance, policy: Policy) {
    const { requests: max, windowMs: timeWindow, keyOf: keyGenerator } = policy
    const options: RateLimitOptions = { max, timeWindow, keyGenerator, cache: KEYS_MAX }
    this.#policy = policy
    this.#create = () => app.createRateLimit(options)
    this.#limiter = this.#create()
  }

  /** Counts a request. Resolves to the error for it if its key had used up its requests. */
  async count(request: FastifyRequest): Promise<ApiError | undefined> {
    const count = await this.#limiter(request)
    return !count.isAllowed && count.isExceeded ? this.#refuse(count) : undefined
  }

  /** Resolves to the error for a request if its key has used up its requests. Counts nothing. */
  async check(request: FastifyRequest): Promise<ApiError | undefined> {
    const count = await this.#limiter(request, { increment: false })
    return !count.isAllowed && count.remaining === 0 ? this.#refuse(count) : undefined
  }

  #refuse({ max, timeWindow, ttl, ttlInSeconds }: Count): ApiError | undefined {
    // The clock was set back, which would prolong all windows by as much.
    if (ttl > timeWindow) {
      this.#limiter = this.#create()
      return undefined
    }
    return limitError(this.#policy, max, timeWindow, ttlInSeconds)
  }
}

/**
 * The error for a request beyond a limit.
 *
 * @param seconds until the window ends
 */
export function limitError(
  { name, code, message }: Pick<Policy, 'name' | 'code' | 'message'>,
  requests: number,
  windowMs: number,
  seconds: number,
): ApiError {
  return new ApiError(code, message, {
    'retry-after': String(seconds),
    ratelimit: `"${name}";r=0;t=${seconds}`,
    'ratelimit-policy': `"${name}";q=${requests};w=${Math.ceil(windowMs / 1000)}`,
  })
}

/** Limits requests without a valid token, per address; undefined if the limit is off. */
export function failureLimit(app: FastifyInstance, rate: Limit): RateLimit | undefined {
  if (rate === 'off') return undefined
  return new RateLimit(app, {
    name: 'failed-authentication',
    code: 'too-many-failures',
    message: 'too many requests from this address without a valid access token',
    requests: rate.requests * FAILURE_BURST,
    windowMs: rate.window * FAILURE_BURST,
    keyOf: ({ ip }) => addressKey(ip),
  })
}

/** Limits requests with a valid token, per token of ours or subject of the issuer; undefined if the limit is off. */
export function tokenLimit(app: FastifyInstance, rate: Limit): RateLimit | undefined {
  if (rate === 'off') return undefined
  const { requests, window: windowMs } = rate
  return new RateLimit(app, {
    name: 'requests',
    code: 'too-many-requests',
    message: `this access token exceeded its limit of ${requests} requests in ${windowMs / 1000} s`,
    requests,
    windowMs,
    // The name of a token has no space.
    keyOf: ({ grant }) =>
      grant?.subject === undefined ? `${grant?.name}` : `sub ${grant.subject}`,
  })
}

/**
 * The key under which an address is limited: the address itself, or the /64 network for IPv6, because one client
 * usually has a whole /64. Anything else that a proxy sends is truncated to serve as a key. All connections that have
 * closed, whose addresses are unknown, share one key.
 */
export function addressKey(address = 'unknown'): string {
  // Some proxies add the port.
  const isAddress = isIPv6(address)
  return normalizeIP(isAddress ? address : address.replace(/:\d*$/, '').slice(0, 15), 64)
}
