/** Lists of changes for PlantStore.apply. */
import type { ChangeResult, NewPlant, PlantChange, PlantStore } from '../../service/plant-store.ts'

/** A change of each plant. */
export function each<Type extends 'create' | 'put'>(
  type: Type,
  plants: readonly NewPlant[],
): (PlantChange & { type: Type })[] {
  return plants.map((plant) => ({ type, plant }) as PlantChange & { type: Type })
}

/** Creates all plants or none. */
export function createAll(
  store: Pick<PlantStore, 'apply'>,
  plants: readonly NewPlant[],
): Promise<ChangeResult[]> {
  return store.apply(each('create', plants), 'all-or-none')
}
