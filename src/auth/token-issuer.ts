import type { Grant } from '../../core/contract/scopes.ts'

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

/** A token cannot be verified yet, because its key is not known. */
export class IssuerUnavailable extends Error {
  /**
   * - `failing`: The issuer's keys cannot be read.
   * - `key-unknown`: They have been read so recently that they cannot be read again yet. The token is forged, or its key
   *   is new.
   */
  readonly reason: 'failing' | 'key-unknown'
  /** How long until the issuer can be asked again. */
  readonly retryAfterMs: number

  constructor(reason: IssuerUnavailable['reason'], retryAfterMs: number) {
    super()
    this.reason = reason
    this.retryAfterMs = retryAfterMs
  }
}
