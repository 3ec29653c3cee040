/** Changes of single plants, as calls of PlantStore.change. */
import type {
  ChangeOf,
  ChangeOutcome,
  ChangeType,
  Expectation,
  NewPlant,
  PlantChange,
  PlantPatch,
  PlantStore,
} from '../../../service/store/plant-store.ts'

type Store = Pick<PlantStore, 'change'>

export function createIn(store: Store, plant: NewPlant) {
  return store.change({ ...plant, type: 'create' })
}

export function updateIn(store: Store, id: bigint, patch: PlantPatch, expected?: Expectation) {
  return store.change({ type: 'update', id, patch, expected })
}

export function removeFrom(store: Store, id: bigint, expected?: Expectation) {
  return store.change({ type: 'remove', id, expected })
}

/** A method that makes the changes of one type in its own way, and others as another store does. */
export function onChange<Type extends ChangeType>(
  type: Type,
  make: (change: ChangeOf<Type>) => Promise<ChangeOutcome<Type>>,
  others?: Store,
): PlantStore['change'] {
  const change = async (change: PlantChange): Promise<ChangeOutcome> => {
    if (change.type === type) return make(change as ChangeOf<Type>)
    if (others === undefined) throw new Error(`unexpected ${change.type}`)
    return others.change(change)
  }
  return change as PlantStore['change']
}
