import { isDeepStrictEqual } from 'node:util'
import Sqlite from 'better-sqlite3'
import type { Change } from '../../service/change-feed.ts'
import type { Plant, StoredPlant } from '../../service/plant-store.ts'
import { UNLIMITED } from '../../src/stores/shared/limited-read.ts'
import { prepareChangeRead } from '../../src/stores/sqlite/reads/change-reader.ts'
import { replay } from '../stores/changes.ts'
import { byId } from '../stores/plants.ts'

type State = Plant | undefined

/** The changes of each plant that the feed must contain, in order, each exactly once. */
export class LoggedChanges {
  /** The states of each plant, starting with none. */
  readonly #states = new Map<bigint, State[]>()

  /** Records an acknowledged change, or one that was found after a crash. Does nothing if it changes nothing. */
  add(id: bigint, stored: StoredPlant | undefined): void {
    const states = this.#states.get(id) ?? [undefined]
    const state = withoutId(stored)
    if (isDeepStrictEqual(states.at(-1), state)) return
    this.#states.set(id, [...states, state])
  }

  /** Records the changes without a response that a crash has not undone: at most one of each plant. */
  continueFrom(stored: readonly StoredPlant[]): void {
    const found = new Map(stored.map((plant) => [plant.id, plant]))
    for (const id of new Set([...found.keys(), ...this.#states.keys()])) {
      this.add(id, found.get(id))
    }
  }

  /** Describes each plant whose changes in the feed are not those that were recorded. */
  faults(changes: readonly Change[]): string[] {
    const logged = new Map<bigint, State[]>()
    for (const { id, plant } of changes) {
      logged.set(id, [...(logged.get(id) ?? [undefined]), plant])
    }
    const ids = new Set([...this.#states.keys(), ...logged.keys()])
    return [...ids].flatMap((id) => {
      const [expected, found] = [this.#states.get(id), logged.get(id)]
      return isDeepStrictEqual(found, expected)
        ? []
        : [`${id} has ${found?.length} states, not ${expected?.length}, or others`]
    })
  }
}

/** All changes in the feed of a file, read through another connection. */
export function changesIn(file: string): Change[] {
  const db = new Sqlite(file, { readonly: true }).defaultSafeIntegers()
  try {
    const read = prepareChangeRead(db)
    const changes: Change[] = []
    let after: string | undefined
    for (;;) {
      const page = read({ after, limit: 1000 }, UNLIMITED)
      if (typeof page !== 'object') throw new Error(`the feed is ${String(page)}`)
      changes.push(...page.changes)
      if (page.changes.length === 0) return changes
      after = page.next
    }
  } finally {
    db.close()
  }
}

/** Whether repeating all changes yields the stored plants. */
export function yields(changes: readonly Change[], stored: readonly StoredPlant[]): boolean {
  return isDeepStrictEqual(replay(changes), byId(stored))
}

function withoutId(plant: StoredPlant | undefined): State {
  if (plant === undefined) return undefined
  const { name, tag } = plant
  return tag === undefined ? { name } : { name, tag }
}
