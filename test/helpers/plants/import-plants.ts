import { known } from '../../../core/known.ts'
import type { ChangeResult, NewPlant, PlantStore } from '../../../service/store/plant-store.ts'
import type { ApplyMode } from '../../../service/store/record-store.ts'

/** The type of change for each plant, and what its results mean. */
const CHANGES: {
  readonly [action in 'stop' | 'keep' | 'replace']: {
    readonly type: 'create' | 'put'
    readonly mode: ApplyMode
    readonly results: { readonly [result in ChangeResult]?: ImportResult }
  }
} = {
  stop: {
    type: 'create',
    mode: 'all-or-none',
    results: { created: 'created', unchanged: 'replayed', 'plant-exists': 'conflict' },
  },
  keep: {
    type: 'create',
    mode: 'each',
    results: { created: 'created', unchanged: 'replayed', 'plant-exists': 'kept' },
  },
  replace: {
    type: 'put',
    mode: 'each',
    results: { created: 'created', unchanged: 'replayed', changed: 'replaced' },
  },
}

type ImportResult = 'created' | 'replayed' | 'kept' | 'replaced' | 'conflict'

/**
 * Stores plants, in one transaction unless they affect too much text, and resolves to their results in the same order.
 * With `stop`, those from the first conflict on are not stored, and the results end with a conflict.
 */
export async function importPlants(
  store: Pick<PlantStore, 'apply'>,
  plants: readonly NewPlant[],
  onConflict: keyof typeof CHANGES,
): Promise<ImportResult[]> {
  const { type, mode, results } = CHANGES[onConflict]
  const applied = await store.apply(
    plants.map((plant) => ({ ...plant, type })),
    mode,
  )
  if (applied === 'too-large') {
    const middle = Math.ceil(plants.length / 2)
    const first = await importPlants(store, plants.slice(0, middle), onConflict)
    if (onConflict === 'stop' && first.at(-1) === 'conflict') return first
    return [...first, ...(await importPlants(store, plants.slice(middle), onConflict))]
  }
  const imported = applied.map((result) => known(results[result]))
  const conflict = imported.indexOf('conflict')
  if (conflict === -1) return imported
  return [...(await importPlants(store, plants.slice(0, conflict), onConflict)), 'conflict']
}
