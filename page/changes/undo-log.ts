import { parseJson, toJson } from '../../client/client.ts'
import type { TabStorage } from '../access/tab-storage.ts'
import { int64Fields } from '../model/current-members.ts'
import { Model } from '../model/model.ts'
import type { Intent } from './intent.ts'

/** Changes that can be taken back together. */
export interface Operation {
  readonly key: number
  /** What was done, such as `Saved`. */
  readonly title: string
  /** The plant that it was done to, if it was one. */
  readonly label?: string | undefined
  /** The number of plants. */
  readonly count: number
  /** How many plants are left out, because somebody else may have added them. */
  readonly unknown: number
  /** The number of parts, of which each has some of the plants. */
  readonly parts: number
  /** The length of their text. */
  readonly length: number
}

/** What a person is told about the latest change. */
export interface Announcement {
  /** What was done, such as `Saved`. */
  readonly title: string
  /** The plant that it was done to, if it was one. */
  readonly label?: string | undefined
  /** The number of plants, if there can be several. */
  readonly count?: number
  /** How many plants were like that already. */
  readonly unchanged?: number
  /** The id of a plant that was added. */
  readonly added?: bigint | undefined
  /** The key of the operation that it is about. Undefined if it cannot be taken back. */
  readonly operation?: number | undefined
}

/** What takes an operation back is no longer stored. */
export class ForgottenError extends Error {
  constructor() {
    super('What this undo needs is no longer in this browser. You have signed out in another tab.')
  }
}

/** More are forgotten, the oldest first. */
const OPERATIONS_MAX = 20

/** An import of a million plants, in characters. */
const LENGTH_MAX = 2 ** 27

/** The latest changes that were made in this tab, what is said about them, and what takes them back. */
export class UndoLog extends Model {
  readonly #storage: TabStorage
  readonly #lengthMax: number
  #operations: readonly Operation[] = []
  #latestKey = 0
  #announcement: Announcement | undefined

  /** @param lengthMax limits the text of all operations, in characters */
  constructor(storage: TabStorage, lengthMax = LENGTH_MAX) {
    super()
    this.#storage = storage
    this.#lengthMax = lengthMax
  }

  /** Reads what the tab had stored before it was reloaded. */
  async load(): Promise<void> {
    const names = await this.#storage.names()
    const heads = names.filter((name) => HEAD.test(name))
    const stored = await Promise.all(heads.map((name) => this.#storage.get(name)))
    const operations = stored.map((json): Operation => JSON.parse(String(json)))
    this.#operations = operations.sort((one, other) => one.key - other.key)
    this.#latestKey = this.#operations.at(-1)?.key ?? 0
    this.changed()
  }

  /** The latest one last. */
  get operations(): readonly Operation[] {
    return this.#operations.filter(({ count }) => count > 0)
  }

  get announcement(): Announcement | undefined {
    return this.#announcement
  }

  /** Tells the person what was done, or ends that. */
  announce(announcement?: Announcement): void {
    this.#announcement = announcement
    this.changed()
  }

  find(key: number): Operation | undefined {
    return this.#operations.find((each) => each.key === key)
  }

  /** Begins an operation, which appears once it has changed a plant. Returns its key. */
  begin(title: string, label?: string): number {
    this.#announcement = undefined
    this.#latestKey += 1
    const key = this.#latestKey
    const empty = { count: 0, unknown: 0, parts: 0, length: 0 }
    this.#operations = [...this.#operations, { key, title, label, ...empty }]
    return key
  }

  /** Adds what takes some changes back, unless the operation has become too large. */
  async add(key: number, undo: readonly Intent[], unknown = 0): Promise<void> {
    const operation = this.find(key)
    if (operation === undefined || undo.length + unknown === 0) return
    const text = toJson(undo)
    const { parts } = operation
    const grown = {
      ...operation,
      count: operation.count + undo.length,
      unknown: operation.unknown + unknown,
      parts: parts + 1,
      length: operation.length + text.length,
    }
    this.#operations = this.#operations.map((each) => (each === operation ? grown : each))
    try {
      await this.#storage.set({ [partOf(key, parts)]: text, [headOf(key)]: JSON.stringify(grown) })
    } catch {
      // The browser has no room for it.
      await this.remove(key)
    }
    await this.#trim()
    this.changed()
  }

  async #trim(): Promise<void> {
    const all = this.operations
    const length = all.reduce((sum, each) => sum + each.length, 0)
    const [oldest] = all
    if (oldest === undefined || (all.length <= OPERATIONS_MAX && length <= this.#lengthMax)) return
    await this.remove(oldest.key)
    await this.#trim()
  }

  /**
   * The intents that take an operation back, the latest change first.
   *
   * @throws ForgottenError
   */
  async *intents({ key, parts }: Operation): AsyncGenerator<Intent> {
    for (let part = parts - 1; part >= 0; part -= 1) {
      const text = await this.#storage.get(partOf(key, part))
      if (text === undefined) throw new ForgottenError()
      const intents = parseJson(text, int64Fields) as readonly Intent[]
      yield* intents.toReversed()
    }
  }

  async remove(key: number): Promise<void> {
    const operation = this.find(key)
    if (operation === undefined) return
    this.#operations = this.#operations.filter((each) => each !== operation)
    this.changed()
    const parts = Array.from({ length: operation.parts }, (_, part) => partOf(key, part))
    try {
      await this.#storage.delete([headOf(key), ...parts])
    } catch {
      // After a reload, it is offered again. Taking it back again has no effect.
    }
  }

  async clear(): Promise<void> {
    this.announce()
    await Promise.all(this.#operations.map(({ key }) => this.remove(key)))
  }
}

/** Names in the storage. */
const HEAD = /^operation \d+$/

function headOf(key: number): string {
  return `operation ${key}`
}

function partOf(key: number, part: number): string {
  return `${headOf(key)} part ${part}`
}
