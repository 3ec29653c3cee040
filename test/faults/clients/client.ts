/** A program that uses the store: what each of the clients can do. */
import type { Change, NewPlant, StoredPlant } from '../../../client/client.ts'

export interface Client {
  /** Stores a plant. */
  create(plant: NewPlant): Promise<void>
  /** Renames a plant; rejects if someone else has changed it meanwhile. */
  rename(id: bigint, name: string): Promise<void>
  /** Reads all plants. */
  list(): Promise<StoredPlant[]>
  /** Updates a copy until it contains a plant. */
  follow(copy: Copy, until: bigint): Promise<void>
}

/** What a client needs to reach a store. */
export interface Access {
  readonly url: string
  readonly token: string
  /** Limit for an attempt. */
  readonly timeoutMs: number
}

/** The names of all plants, as they were at a cursor. */
export class Copy {
  readonly names = new Map<bigint, string>()
  /** The ids of the changes, in the order in which they were applied. */
  readonly applied: bigint[] = []
  cursor: string | undefined

  apply({ id, plant, cursor }: Change): void {
    if (plant === undefined) this.names.delete(id)
    else this.names.set(id, plant.name)
    this.applied.push(id)
    this.cursor = cursor
  }

  replace(plants: readonly StoredPlant[], cursor: string): void {
    this.names.clear()
    for (const { id, name } of plants) this.names.set(id, name)
    this.cursor = cursor
  }
}
