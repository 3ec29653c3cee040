import type { Grant } from '../contract/scopes.ts'

/** Verifies tokens that someone else issues. */
export interface TokenIssuer {
  /**
   * Resolves to the grant of a token, or undefined if it is not a valid one of this issuer.
   *
   * @param digest SHA-256 of the token
   * @throws IssuerUnavailable
   */
  verify(token: string, digest: Buffer): Promise<Grant | undefined>
}

/** A token cannot be verified yet, because its key is unknown and the issuer does not respond. */
export class IssuerUnavailable extends Error {
  /** How long until the issuer is asked again. */
  readonly retryAfterMs: number

  constructor(retryAfterMs: number) {
    super()
    this.retryAfterMs = retryAfterMs
  }
}
