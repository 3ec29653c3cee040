/**
 * - `failed`: the person is not signed in
 * - `ended`: the session at the issuer is over, so the person must sign in again
 * - `unavailable`: the access token has expired, and the issuer cannot be asked for another one now
 */
export type SignInFailure = 'failed' | 'ended' | 'unavailable'

/** A failure of signing in, or of staying signed in. Its message is for people. */
export class SignInError extends Error {
  readonly kind: SignInFailure

  constructor(kind: SignInFailure, message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }
}
