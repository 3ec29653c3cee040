import { existsSync } from 'node:fs'

/** Whether they are installed. `npm ci --omit=dev` leaves them out. */
export function hasDevelopmentDependencies(): boolean {
  return existsSync(new URL('../node_modules/typescript', import.meta.url))
}
