import type { TabStorage } from '../storage/tab-storage.ts'
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
    const json = await this.#storage.get(NAME)
    if (json !== undefined) this.#drafts.load(json)
    this.#drafts.subscribe(() => {
      this.#isChanged = true
      this.#writing ??= this.#write()
    })
  }

  /** Resolves once all changes are stored, to whether they can be read again. */
  async stored(): Promise<boolean> {
    await this.#writing
    return this.#isStored && this.#storage.isLasting()
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
