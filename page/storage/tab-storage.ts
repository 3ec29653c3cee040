import { clear, createStore, delMany, get, keys, setMany, type UseStore } from 'idb-keyval'
import { pageUrl } from '../access/page-url.ts'
import { storages } from '../access/session.ts'

/** Where the tab's storage has the tab's own name. */
const TAB = 'plant-store-tab'

/** The entry that says when a tab was last used. */
const USED_AT = ''

/** What a tab that is closed leaves in the browser stays this long at most, in milliseconds. */
const KEPT_MS = 24 * 60 * 60 * 1000

type Key = readonly [tab: string, name: string]

/**
 * Text that a tab keeps over a reload and a crash, by names that are not empty. It is in IndexedDB, because that has room
 * for more than `sessionStorage`. If the browser blocks it, it is in memory.
 */
export class TabStorage {
  readonly #tab = nameTab()
  readonly #memory = new Map<string, string>()
  readonly #store: Promise<UseStore | undefined>

  constructor() {
    this.#store = this.#open()
  }

  async #open(): Promise<UseStore | undefined> {
    try {
      // Others on this origin can have a database too.
      const store = createStore(`plant-store ${pageUrl().pathname}`, 'tabs')
      await this.#removeOld(store)
      return store
    } catch {
      return undefined
    }
  }

  async #removeOld(store: UseStore): Promise<void> {
    const all = await keys<[string, string]>(store)
    for (const [tab, name] of all) {
      if (name !== USED_AT || tab === this.#tab) continue
      const usedAt = await get<number>([tab, name], store)
      if (Date.now() - Number(usedAt) < KEPT_MS) continue
      const old = all.filter(([other]) => other === tab)
      await delMany(old, store)
    }
  }

  /** Whether it outlives the page. */
  async isLasting(): Promise<boolean> {
    return (await this.#store) !== undefined
  }

  /** The names of all entries. */
  async names(): Promise<readonly string[]> {
    const store = await this.#store
    if (store === undefined) return [...this.#memory.keys()]
    const all = await keys<[string, string]>(store)
    return all.flatMap(([tab, name]) => (tab === this.#tab && name !== USED_AT ? [name] : []))
  }

  async get(name: string): Promise<string | undefined> {
    const store = await this.#store
    return store === undefined ? this.#memory.get(name) : get<string>(this.#key(name), store)
  }

  /**
   * Stores all entries, or none.
   *
   * @throws DOMException if the browser has no room for them
   */
  async set(entries: { readonly [name: string]: string }): Promise<void> {
    const store = await this.#store
    const texts = Object.entries(entries)
    if (store === undefined) {
      for (const [name, text] of texts) this.#memory.set(name, text)
      return
    }
    const used: [IDBValidKey, unknown] = [this.#key(USED_AT), Date.now()]
    await setMany(
      [used, ...texts.map(([name, text]): [IDBValidKey, unknown] => [this.#key(name), text])],
      store,
    )
  }

  async delete(names: readonly string[]): Promise<void> {
    const store = await this.#store
    if (store !== undefined)
      await delMany(
        names.map((name) => this.#key(name)),
        store,
      )
    for (const name of names) this.#memory.delete(name)
  }

  /** Deletes what every tab has stored. */
  async clear(): Promise<void> {
    const store = await this.#store
    this.#memory.clear()
    if (store !== undefined) await clear(store)
  }

  #key(name: string): [...Key] {
    return [this.#tab, name]
  }
}

/** A name that the tab keeps when it is reloaded. */
function nameTab(): string {
  const [tab] = storages()
  const name = tab?.getItem(TAB) ?? String(crypto.getRandomValues(new BigUint64Array(1))[0])
  try {
    tab?.setItem(TAB, name)
  } catch {
    // The storage is full.
  }
  return name
}
