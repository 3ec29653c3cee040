import { PlantStoreError } from '../../client/client.ts'

/** Whether the service no longer accepts, or never accepted, the token. */
export function isRejected(error: unknown): boolean {
  return error instanceof PlantStoreError && error.status === 401
}
