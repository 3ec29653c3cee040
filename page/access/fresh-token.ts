import type { TokenEndpointResponse } from 'oauth4webapi'
import { shareResult } from '../../core/time/shared-result.ts'
import { SignInError } from '../errors/sign-in-error.ts'

/** How long before its expiry a token is replaced, unless its lifetime is shorter than twice that. */
const MARGIN_MS = 60_000

/** How much earlier the service can consider it expired, because clocks differ. */
const LEEWAY_MS = 10_000

/** The pause after an attempt to replace a token that is still valid. */
const RETRY_MS = 5000

export type Tokens = Pick<TokenEndpointResponse, 'access_token' | 'expires_in' | 'refresh_token'>

/**
 * Asks the issuer for new tokens.
 *
 * @throws SignInError
 */
export type Refresh = (refreshToken: string) => Promise<Tokens>

/** An access token that is replaced before it expires. Only the page's memory contains it. */
export class FreshToken {
  readonly #refresh: Refresh
  #tokens: Tokens
  #refreshAt = 0
  #expiresAt = 0
  /** All calls share a request, because issuers can permit a refresh token only once (RFC 9700 §4.14.2). */
  readonly #renew = shareResult(() => this.#replace())

  constructor(tokens: Tokens, refresh: Refresh) {
    this.#refresh = refresh
    this.#tokens = tokens
    this.#schedule()
  }

  /**
   * Resolves to a valid access token.
   *
   * @throws SignInError if it has expired, and the issuer does not replace it
   */
  async get(): Promise<string> {
    // A timer would stop while the computer sleeps.
    if (Date.now() >= this.#refreshAt) {
      try {
        await this.#renew()
      } catch (error) {
        if (Date.now() >= this.#expiresAt) throw error
      }
    }
    return this.#tokens.access_token
  }

  async #replace(): Promise<void> {
    // As long as the token is valid, other requests use it, because the issuer may be slow or unavailable.
    this.#refreshAt = Math.min(Date.now() + RETRY_MS, this.#expiresAt)
    const { refresh_token } = this.#tokens
    if (refresh_token === undefined) throw new SignInError('ended', 'Your session has ended.')
    const tokens = await this.#refresh(refresh_token)
    // The issuer can omit those that stay valid (RFC 6749 §6).
    this.#tokens = { ...this.#tokens, ...tokens }
    this.#schedule()
  }

  #schedule(): void {
    const { expires_in = Number.POSITIVE_INFINITY } = this.#tokens
    const lifetimeMs = 1000 * expires_in
    const end = Date.now() + lifetimeMs
    this.#expiresAt = end - Math.min(LEEWAY_MS, lifetimeMs / 4)
    this.#refreshAt = end - Math.min(MARGIN_MS, lifetimeMs / 2)
  }
}
