import type { NewPlant, Plant } from '../../../service/plant-store.ts'

export function isSame(one: Plant, other: Plant): boolean {
  return one.name === other.name && one.tag === other.tag
}

/** Plants as the three arrays that `unnest` makes rows of. */
export function columnsOf(
  plants: readonly NewPlant[],
): [ids: bigint[], names: string[], tags: (string | null)[]] {
  return [
    plants.map(({ id }) => id),
    plants.map(({ name }) => name),
    plants.map(({ tag }) => tag ?? null),
  ]
}

/** For `FROM`: the rows of `columnsOf`, as the parameters 1 to 3. */
export const UNNESTED = 'unnest($1::int8[], $2::text[], $3::text[]) AS given (id, name, tag)'

/**
 * Inserts plants with different ids, those whose id is free, and gives the ids that were. By id, as two that
 * insert the same in different orders would wait for each other.
 */
export const INSERT = `
  INSERT INTO plants (id, name, tag) SELECT id, name, tag FROM ${UNNESTED} ORDER BY id
  ON CONFLICT (id) DO NOTHING RETURNING id`
