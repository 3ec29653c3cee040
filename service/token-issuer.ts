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

/** No token of the issuer can be verified yet. */
export class IssuerUnavailable extends Error {}
