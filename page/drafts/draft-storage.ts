import type { PlantStoreClient } from '../../client/client.ts'
import type { TabStorage } from '../access/tab-storage.ts'
import { findPlants } from '../changes/find-plants.ts'
import { parseId } from '../list/plant-id.ts'
import { isCarriedOut } from './draft.ts'
import type { Drafts } from './drafts.ts'

const NAME = 'drafts'

/** Keeps drafts in the tab's storage, so that they survive when the page is left, reloaded or crashes. */
export class DraftStorage {
  readonly #drafts: Drafts
  readonly #storage: TabStorage
  #isChanged = false
  #isStored = true
  #writing: Promise<void> | undefined

  constructor(drafts: Drafts, storage: TabStorage) {
    this.#drafts = drafts
    this.#storage = storage
  }

  /** Reads what the tab has kept, then keeps every change. */
  async load(): Promise<void> {
    try {
      const json = await this.#storage.get(NAME)
      if (json !== undefined) this.#drafts.load(json)
    } finally {
      this.#drafts.subscribe(() => this.#change())
    }
  }

  /**
   * Discards the drafts that are saved. A page that was left or crashed never received the response.
   *
   * @throws what `PlantStoreClient.plants` throws
   */
  async discardSaved(client: Pick<PlantStoreClient, 'plants'>, signal: AbortSignal): Promise<void> {
    const waiting = () =>
      this.#drafts.unsaved.flatMap((draft) => {
        const id = draft.state === 'sending' ? undefined : parseId(draft.typed.id)
        return id === undefined ? [] : [{ id, draft }]
      })
    const ids = new Set(waiting().map(({ id }) => id))
    const stored = await findPlants(client, [...ids], signal)
    for (const { id, draft } of waiting()) {
      if (ids.has(id) && isCarriedOut(draft, stored.get(id))) this.#drafts.discard(draft.key)
    }
  }

  /** Stores all drafts, also if another tab has deleted them. Resolves to whether they can be read again. */
  async stored(): Promise<boolean> {
    this.#change()
    await this.#writing
    return this.#isStored && this.#storage.isLasting()
  }

  #change(): void {
    this.#isChanged = true
    this.#writing ??= this.#write()
  }

  async #write(): Promise<void> {
    while (this.#isChanged) {
      this.#isChanged = false
      try {
        if (this.#drafts.unsaved.length === 0) await this.#storage.delete([NAME])
        else await this.#storage.set({ [NAME]: this.#drafts.toJson() })
        this.#isStored = true
      } catch {
        // They are too large.
        this.#isStored = false
      }
    }
    this.#writing = undefined
  }
}
