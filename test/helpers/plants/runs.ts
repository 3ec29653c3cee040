/** A fifth of the runs of each property is enough before every commit, because each time has another seed. */
const SHARE = process.env.FULL === '1' ? 1 : 0.2

/**
 * How often to check a property. A failure prints its seed.
 *
 * @param full how often with `FULL=1`, as every night
 */
export function runs(full: number): number {
  return Math.ceil(full * SHARE)
}
