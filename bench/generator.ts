import { generateByAutocannon } from './autocannon.ts'
import type { Generate } from './load.ts'
import { findWrk, generateByWrk } from './wrk.ts'

/** Picks wrk if it is installed, because it uses a fraction of a core. autocannon uses a whole one. */
export async function findGenerator(): Promise<{ name: string; generate: Generate }> {
  return (await findWrk())
    ? { name: 'wrk', generate: generateByWrk }
    : { name: 'autocannon', generate: generateByAutocannon }
}
