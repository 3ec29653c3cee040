/** In JavaScript, because Node 20 runs it if nothing else is installed. */
import { existsSync } from 'node:fs'

/** Whether they are installed. `npm ci --omit=dev` leaves them out. */
export function hasDevelopmentDependencies() {
  return existsSync(new URL('../../node_modules/typescript', import.meta.url))
}
