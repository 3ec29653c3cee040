import type { Json } from '../../contract/operation-types.ts'
import type { StoredPlant } from '../../service/plant-store.ts'

/** A row of the table `plants`. */
export interface PlantRow {
  readonly id: bigint
  readonly name: string
  readonly tag: string | null
}

export function toPlant({ id, name, tag }: PlantRow): StoredPlant {
  return tag === null ? { id, name } : { id, name, tag }
}

/** A JSON array of plants, from the JSON of each. */
export function joinPlants(plants: readonly string[]): Json<StoredPlant[]> {
  return `[${plants.join(',')}]` as Json<StoredPlant[]>
}
