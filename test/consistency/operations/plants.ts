/** The plants on which all clients contend, and what they can contain. */
import type { Plant } from '../../../client/client.ts'
import type { Random } from '../../hostile/fuzz/random.ts'
import { MAX, MIN } from '../../stores/plants.ts'

/** The limits of int64, ids that a double cannot represent, and small ones, in ascending order. */
export const PLANTS: readonly bigint[] = [
  ...[MIN, MIN + 1n, -(2n ** 53n) - 1n, -(2n ** 53n), -1n, 0n, 1n, 2n, 3n, 4n],
  ...[2n ** 31n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 62n, MAX - 1n, MAX],
]

/** The first word of each name. Searches look for them. */
export const GENERA = ['Abies', 'Acer', 'Tilia'] as const

/** One plant in this many fills several pages of a database, so that a partial write would show. */
const LONG = 40

/** A unique content. A tag belongs to one plant or, more rarely, to any. */
export function newContent(random: Random, id: bigint, serial: string): Plant {
  const length = random.oneIn(LONG) ? random.below(8_000) : 0
  const name = `${random.pick(GENERA)} ${serial}${' x'.repeat(length)}`
  const tag = newTag(random, id)
  return tag === null ? { name } : { name, tag }
}

/** A tag, or null for none. */
export function newTag(random: Random, id: bigint): string | null {
  return random.pick([null, 'Tree', ...ownTags(id), ...ownTags(id)])
}

/** Tags that only this plant has, so that a list of tags says something about it. */
export function ownTags(id: bigint): readonly string[] {
  return [`red ${id}`, `white ${id}`]
}
