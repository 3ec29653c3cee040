/** The plants on which all clients contend, and what they can contain. */
import type { Random } from '../../hostile/fuzz/random.ts'
import { MAX, MIN } from '../../stores/plants.ts'
import type { Knowledge } from './operation.ts'
import { type Content, contentOf } from './register.ts'

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
export function newContent(
  random: Random,
  id: bigint,
  { serial, hasFields }: Pick<Knowledge, 'serial' | 'hasFields'>,
): Content {
  const length = random.oneIn(LONG) ? random.below(8_000) : 0
  const name = `${random.pick(GENERA)} ${serial()}${' x'.repeat(length)}`
  const tag = newTag(random, id) ?? undefined
  if (!hasFields) return contentOf({ name, tag })
  return contentOf({ name, tag, height: heightOf(name), light: newLight(random) })
}

/** A tag, or null for none. */
export function newTag(random: Random, id: bigint): string | null {
  return random.pick([null, 'Tree', ...ownTags(id), ...ownTags(id)])
}

/** The height of each plant with a name, so that a height tells as much as the name. */
export function heightOf(name: string): number {
  const [, number = 0] = /\.(\d+)/.exec(name) ?? []
  return Number(number) % 10_001
}

/** The values of `light`. */
export const LIGHTS = ['sun', 'shade'] as const

/** A value of `light`, or null for none. */
export function newLight(random: Random): string | null {
  return random.pick([null, ...LIGHTS])
}

/** Tags that only this plant has, so that a list of tags says something about it. */
export function ownTags(id: bigint): readonly string[] {
  return [`red ${id}`, `white ${id}`]
}
