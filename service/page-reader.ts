import { prepareParser } from '../core/json/exact-json.ts'
import type { Member } from '../core/members/members.ts'
import { PlantCodec } from './plant-codec.ts'
import type { PlantPage, StoredPlant } from './store/plant-store.ts'

/** Reads the plants of a page. */
export type PageReader = (page: Pick<PlantPage, 'json'>) => StoredPlant[]

/**
 * Prepares a reader of the plants of a page, which a store formats. They have no own fields other than those among the
 * members.
 */
export function pageReader(members: readonly Member[]): PageReader {
  const parse = prepareParser(members)
  const codec = new PlantCodec(members)
  return ({ json }) => {
    const plants = parse(Buffer.from(json)) as Parameters<PlantCodec['toPlant']>[0][]
    // Short integers are parsed as numbers.
    return plants.map((plant) => codec.toPlant({ ...plant, id: BigInt(plant.id) }))
  }
}
