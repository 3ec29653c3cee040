import { clear, createStore, delMany, get, keys, setMany, type UseStore } from 'idb-keyval'
import { pageUrl } from './page-url.ts'
import { storages } from './session.ts'

/** Where the tab's storage has the tab's own name. */
const TAB = 'plant-store-tab'

/** The entries that say when a tab was last used, and who owns the others. */
const USED_AT = ''
const OWNER = 'owner'

/** What a tab that is closed leaves in the browser stays this long at most, in milliseconds. */
const KEPT_MS = 24 * 60 * 60 * 1000

/** How long a tab waits for its name, in milliseconds: another tab has it, or the page that is being left. */
const DUPLICATE_MS = 1000
const RELOAD_MS = 10_000

/** A person or a token. */
export interface Owner {
  readonly id: string
  readonly name: string
}

/** A database, and the tab's name in it. */
interface Opened {
  readonly store: UseStore
  readonly tab: string
}

/**
 * Text that a tab keeps over a reload and a crash, by names that are not empty. It is in IndexedDB, because that has room
 * for more than `sessionStorage`. If the browser blocks it, it is in memory.
 */
export class TabStorage {
  readonly #memory = new Map<string, string>()
  #owner: Owner | undefined
  readonly #opened = this.#open()

  async #open(): Promise<Opened | undefined> {
    const opened = await open()
    if (opened !== undefined) this.#owner = await get([opened.tab, OWNER], opened.store)
    return opened
  }

  /** Who owns the entries. Undefined if there are none, and until one has been read. */
  get owner(): Owner | undefined {
    return this.#owner
  }

  /** Deletes all entries. Later ones belong to a new owner. */
  async handOver(owner: Owner): Promise<void> {
    await this.delete(await this.names())
    this.#owner = owner
  }

  /** Whether it outlives the page. */
  async isLasting(): Promise<boolean> {
    return (await this.#opened) !== undefined
  }

  /** The names of all entries. */
  async names(): Promise<readonly string[]> {
    const opened = await this.#opened
    if (opened === undefined) return [...this.#memory.keys()]
    const all = await keys<[string, string]>(opened.store)
    return all.flatMap(([tab, name]) =>
      tab === opened.tab && name !== USED_AT && name !== OWNER ? [name] : [],
    )
  }

  async get(name: string): Promise<string | undefined> {
    const opened = await this.#opened
    if (opened === undefined) return this.#memory.get(name)
    return get<string>([opened.tab, name], opened.store)
  }

  /**
   * Stores all entries, or none.
   *
   * @throws DOMException if the browser has no room for them
   */
  async set(entries: { readonly [name: string]: string }): Promise<void> {
    const owner = this.#owner
    const opened = await this.#opened
    if (opened === undefined) {
      for (const [name, text] of Object.entries(entries)) this.#memory.set(name, text)
      return
    }
    const values = Object.entries({ ...entries, [USED_AT]: Date.now(), [OWNER]: owner })
    await setMany(
      values.map(([name, value]): [IDBValidKey, unknown] => [[opened.tab, name], value]),
      opened.store,
    )
  }

  async delete(names: readonly string[]): Promise<void> {
    const opened = await this.#opened
    for (const name of names) this.#memory.delete(name)
    if (opened !== undefined) {
      await delMany(
        names.map((name) => [opened.tab, name]),
        opened.store,
      )
    }
  }

  /** Deletes what every tab has stored. */
  async clear(): Promise<void> {
    const opened = await this.#opened
    this.#owner = undefined
    this.#memory.clear()
    if (opened !== undefined) await clear(opened.store)
  }
}

/** Undefined if the browser blocks the database. */
async function open(): Promise<Opened | undefined> {
  try {
    // Others on this origin can have a database too.
    const store = createStore(`plant-store ${pageUrl().pathname}`, 'tabs')
    const all = await keys<[string, string]>(store)
    const tab = await nameTab()
    await removeOld(store, all, tab)
    return { store, tab }
  } catch {
    return undefined
  }
}

/** Removes what tabs have left that were closed long ago. */
async function removeOld(
  store: UseStore,
  all: readonly [tab: string, name: string][],
  tab: string,
): Promise<void> {
  const { held = [] } = (await navigator.locks?.query()) ?? {}
  const isOpen = (other: string) => held.some(({ name }) => name === lockOf(other))
  for (const [other, name] of all) {
    if (name !== USED_AT || other === tab || isOpen(other)) continue
    const usedAt = await get<number>([other, name], store)
    if (Date.now() - Number(usedAt) < KEPT_MS) continue
    const old = all.filter(([each]) => each === other)
    await delMany(old, store)
  }
}

/** A name that the tab keeps when it is reloaded. A duplicated tab, whose storage is a copy, gets another one. */
async function nameTab(): Promise<string> {
  const [storage] = storages()
  const kept = storage?.getItem(TAB)
  if (kept && (await hold(kept))) return kept
  const name = String(crypto.getRandomValues(new BigUint64Array(1))[0])
  await hold(name)
  try {
    storage?.setItem(TAB, name)
  } catch {
    // The storage is full.
  }
  return name
}

/**
 * Holds a name until the page is left.
 *
 * @returns whether no other tab holds it, as far as the browser tells: pages without HTTPS have no locks
 */
function hold(name: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  if (navigator.locks === undefined) return Promise.resolve(true)
  const holdForever = () => {
    resolve(true)
    return new Promise<never>(() => {})
  }
  const [entry] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
  const waitMs = entry?.type === 'navigate' ? DUPLICATE_MS : RELOAD_MS
  const options = { signal: AbortSignal.timeout(waitMs) }
  navigator.locks.request(lockOf(name), options, holdForever).catch(() => resolve(false))
  return promise
}

function lockOf(name: string): string {
  return `plant-store ${name}`
}
