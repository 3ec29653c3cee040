import { PlantStoreError } from '../../client/client.ts'
import { SignInError } from './sign-in-error.ts'

/** Whether the service or the issuer no longer accepts the person or the token, or never did. */
export function isRejected(error: unknown): boolean {
  if (error instanceof SignInError) return error.kind === 'ended'
  return error instanceof PlantStoreError && error.status === 401
}
