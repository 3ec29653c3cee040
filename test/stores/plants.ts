/** Plants that a careless store gets wrong, and comparisons, for all suites. */
import { isDeepStrictEqual } from 'node:util'
import type { Test } from 'tap'
import { parseJson } from '../../client/json.ts'
import { plantJson } from '../../service/store/plant-content.ts'
import type { PlantPage, PlantStore, StoredPlant } from '../../service/store/plant-store.ts'

export const MIN = -(2n ** 63n)
export const MAX = 2n ** 63n - 1n

const SAFE = 2n ** 53n

/** Ids at the limits of other representations of integers. */
export const EDGES = [MIN, -(2n ** 62n), -SAFE, -(2n ** 31n), 0n, 2n ** 31n, 2n ** 32n, SAFE, MAX]
  .flatMap((id) => [id - 1n, id, id + 1n])
  .filter((id) => id >= MIN && id <= MAX)

/** Strings that a careless store confuses with each other. */
export const STRINGS = [
  ...['', ' ', '  ', '\t', '\n', 'x', ' x', 'x ', 'x\n', 'X', 'null', '0', '1', '1.0', '01'],
  ...['\u00e9', 'e\u0301', '\u00c9', 'e', '\u212b', '\u00c5', 'A\u030a', '\ufb01', 'fi'],
  ...['\u{1f331}', '\u{1d49c}', '\u{10ffff}', '\ufffd', '\ufeff', '\ufeffx', '\uffff'],
  ...['\u0001', '\u007f', '\u0085', '\u2028', "'", "''", '"', '\\', '\\x00', '%', '_', '$1', '?'],
  ...['],[7,"x",null,null],[', '\\"],[7,"x",null,null],["'],
]

/** A megabyte in UTF-8. */
export const MEGABYTE = '\u{1f331}'.repeat(2 ** 18)

/** Distinct ids, scattered across int64. */
export function scatteredIds(count: number): bigint[] {
  // Multiplication by an odd number is a permutation modulo 2^64.
  return Array.from({ length: count }, (_, index) =>
    BigInt.asIntN(64, BigInt(index + 1) * 0x9e3779b97f4a7c15n),
  )
}

export function byId<Each extends { readonly id: bigint }>(plants: Iterable<Each>): Each[] {
  return [...plants].sort((one, other) => (one.id < other.id ? -1 : 1))
}

/** All plants of a store. */
export async function exported(store: PlantStore): Promise<StoredPlant[]> {
  return (await Array.fromAsync(store.exportPlants())).flat()
}

/** A page with some plants. Without `next`, it is the last one. */
export function pageWith(plants: readonly StoredPlant[], next?: bigint): PlantPage {
  const json = `[${plants.map(plantJson).join()}]` as PlantPage['json']
  return { json, found: plants.length, next }
}

/** The plants of a page. */
export function plantsIn({ json }: PlantPage): StoredPlant[] {
  return parseJson(json) as StoredPlant[]
}

/** Compares plants and prints only the first difference. */
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
