/** What the suites have in common: plants that a careless store gets wrong, and how to compare them. */
import { isDeepStrictEqual } from 'node:util'
import type { Test } from 'tap'
import type { PlantStore, StoredPlant } from '../../service/plant-store.ts'

export const MIN = -(2n ** 63n)
export const MAX = 2n ** 63n - 1n

const SAFE = 2n ** 53n

/** Ids at which an integer that is kept as something else becomes another one. */
export const EDGES = [MIN, -(2n ** 62n), -SAFE, -(2n ** 31n), 0n, 2n ** 31n, 2n ** 32n, SAFE, MAX]
  .flatMap((id) => [id - 1n, id, id + 1n])
  .filter((id) => id >= MIN && id <= MAX)

/** Texts that a careless store takes for another of them. */
export const TEXTS = [
  ...['', ' ', '  ', '\t', '\n', 'x', ' x', 'x ', 'x\n', 'X', 'null', '0', '1', '1.0', '01'],
  ...['\u00e9', 'e\u0301', '\u00c9', 'e', '\u212b', '\u00c5', 'A\u030a', '\ufb01', 'fi'],
  ...['\u{1f331}', '\u{1d49c}', '\u{10ffff}', '\ufffd', '\ufeff', '\ufeffx', '\uffff'],
  ...['\u0001', '\u007f', '\u0085', '\u2028', "'", "''", '"', '\\', '\\x00', '%', '_', '$1', '?'],
]

/** In UTF-8. */
export const MEGABYTE = '\u{1f331}'.repeat(2 ** 18)

/** Different ids, as many as asked for, all over int64 and in no order. */
export function scatteredIds(count: number): bigint[] {
  // An odd factor makes the multiplication one to one.
  return Array.from({ length: count }, (_, index) =>
    BigInt.asIntN(64, BigInt(index + 1) * 0x9e3779b97f4a7c15n),
  )
}

export function byId<Each extends { readonly id: bigint }>(plants: Iterable<Each>): Each[] {
  return [...plants].sort((one, other) => (one.id < other.id ? -1 : 1))
}

/** All that is in the store. */
export async function exported(store: PlantStore): Promise<StoredPlant[]> {
  return (await Array.fromAsync(store.exportPlants())).flat()
}

/** Compares any number of plants; of those that differ only the first is printed. */
export function samePlants(
  t: Test,
  found: readonly (StoredPlant | undefined)[],
  expected: readonly StoredPlant[],
): void {
  t.equal(found.length, expected.length)
  const different = expected.findIndex((plant, index) => !isDeepStrictEqual(found[index], plant))
  t.strictSame(found[different], expected[different])
}

export function count<Result>(results: readonly Result[], result: Result): number {
  return results.filter((each) => each === result).length
}
