import { readRestriction, restrict } from '../../../service/restriction.ts'
import type { PlantChange } from '../../../service/store/plant-store.ts'
import { changesAfter, replay } from '../../stores/feed-reads.ts'
import { withStore } from '../services/service.ts'

/** Promotes a mirror, but takes back the changes of its last step, which have the same time. */
export async function promoteWithoutLastStep(database: string): Promise<void> {
  await withStore(database, async (store) => {
    const changes = await changesAfter(store)
    const end = changes.at(-1)?.at
    const kept = replay(changes.filter(({ at }) => at !== end))
    const forgotten = new Set(changes.filter(({ at }) => at === end).map(({ id }) => id))
    await restrict(store, {
      expected: await readRestriction(store),
      next: undefined,
      changes: Array.from(forgotten, (id): PlantChange => {
        const plant = kept.find((each) => each.id === id)
        return plant === undefined ? { type: 'remove', id } : { ...plant, type: 'put' }
      }),
    })
  })
}
