/** Lists of changes for PlantStore.apply. */
import type {
  ChangeResult,
  NewPlant,
  PlantChange,
  PlantStore,
} from '../../../service/store/plant-store.ts'

/** A change of one type for each plant. */
export function each(type: 'create' | 'put', plants: readonly NewPlant[]): PlantChange[] {
  return plants.map((plant) => ({ ...plant, type }))
}

export function removals(ids: readonly bigint[]): PlantChange[] {
  return ids.map((id) => ({ type: 'remove', id }))
}

/** Creates all plants or none; in parts if they are too large for a list. */
export async function createAll(
  store: Pick<PlantStore, 'apply'>,
  plants: readonly NewPlant[],
): Promise<ChangeResult[]> {
  const results = await store.apply(each('create', plants), 'all-or-none')
  if (results !== 'too-large') return results
  const middle = Math.ceil(plants.length / 2)
  const first = await createAll(store, plants.slice(0, middle))
  return [...first, ...(await createAll(store, plants.slice(middle)))]
}
