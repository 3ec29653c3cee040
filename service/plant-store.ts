import { hash } from 'node:crypto'
import type { components } from '../src/contract/api.gen.ts'

export type Plant = components['schemas']['Plant']
export type NewPlant = components['schemas']['NewPlant']
export type StoredPlant = components['schemas']['StoredPlant']

/** A JSON merge patch (RFC 7396): what is not named stays as it is, a tag of null is removed. */
export type PlantPatch = components['schemas']['PlantPatch']

/**
 * What became of a create:
 * - `created`: the id was free and the plant is stored;
 * - `replayed`: the same plant, name and tag alike, was stored under the id before;
 * - `conflict`: another plant is stored under the id, and untouched.
 */
export type CreateResult = 'created' | 'replayed' | 'conflict'

/** There is no plant with that id; or there is, but in none of the versions that were expected. */
export type Refusal = 'not-found' | 'changed'

/** Describes a `conflict` to the client. */
export function conflictMessage(id: bigint): string {
  return `plant ${id} already exists with different content`
}

/** What to do with a plant whose id is taken by another one. */
export const onConflicts = ['stop', 'keep', 'replace'] as const
export type OnConflict = (typeof onConflicts)[number]

/** As CreateResult; `kept` and `replaced` are conflicts that were resolved, `conflict` one that was not. */
export type ImportResult = CreateResult | 'kept' | 'replaced'

export interface PageRequest {
  /** Plants with a greater id only. */
  readonly after?: bigint | undefined
  /** Plants with exactly this tag only. */
  readonly tag?: string | undefined
  /** How many plants at most, from 1. */
  readonly limit: number
}

export interface Page {
  /** By id. Fewer than the limit, but at least one of those that there are, where they are very large. */
  readonly plants: StoredPlant[]
  /** Whether there are plants behind the last of these. */
  readonly more: boolean
}

/**
 * Where plants are kept. A store is told of well-formed plants only: ids within int64, text without
 * U+0000 and lone surrogates. What it gives back equals what it was given, code point for code point;
 * a missing tag and an empty one are different.
 *
 * A change resolves only when what it says would survive the loss of power; changes that arrive together
 * may be made durable together. Reads see every change that has resolved. A change throws StoreUnavailable
 * when the store could not do it now: it may have happened all the same, and a second try finds out. A
 * read throws StoreUnavailable when the store cannot read now.
 */
export interface PlantStore {
  /** Stores a plant, if its id is free. Of concurrent creates of one id exactly one is `created`. */
  create(plant: NewPlant): Promise<CreateResult>

  /** The plant with that id, if there is one. */
  get(id: bigint): Promise<StoredPlant | undefined>

  /** Plants by id. Costs the same wherever in the store they are, and however many there are. */
  list(request: PageRequest): Promise<Page>

  /**
   * Changes a plant and resolves to what it is then.
   *
   * @param expected the versions (`versionOf`) that may be changed; compared and changed as one step, so
   *   that of concurrent changes of one version one is made. Without it every version may be.
   */
  update(
    id: bigint,
    patch: PlantPatch,
    expected?: readonly string[],
  ): Promise<StoredPlant | Refusal>

  /** Removes a plant; its id is free again then. `expected` is as for `update`. */
  remove(id: bigint, expected?: readonly string[]): Promise<'removed' | Refusal>

  /**
   * Stores many plants in one transaction, as if one after the other, and resolves to their results in the
   * same order. With `stop` the results end with the first `conflict`: what was before it is stored, it
   * and what is behind it is not.
   */
  importPlants(plants: readonly NewPlant[], onConflict: OnConflict): Promise<ImportResult[]>

  /**
   * All plants by id, some at a time, as they were at the one moment of the first read; changes go on
   * meanwhile. What it holds on to is released when the iteration ends, also early.
   */
  exportPlants(): AsyncIterable<readonly StoredPlant[]>

  /** Resolves if the store can be read. */
  ping(): Promise<void>
}

/**
 * Names the content of a plant: different for different names or tags, and the same again when they are.
 * 132 bits of SHA-256, in base64url.
 */
export function versionOf({ name, tag }: Plant): string {
  return hash('sha256', JSON.stringify([name, tag]), 'base64url').slice(0, 22)
}

/**
 * The store cannot work at the moment, through no fault of the caller; it recovers by itself, and the
 * same call made later is worth it. `busy`: too much is waiting for it, or another process holds it.
 * `failing`: its disk is full, fails or is out of reach.
 */
export class StoreUnavailable extends Error {
  readonly reason: 'busy' | 'failing'
  /** For the log of whoever runs the service. */
  readonly detail: string

  constructor(reason: 'busy' | 'failing', detail: string) {
    super(`the store is ${reason}: ${detail}`)
    this.name = 'StoreUnavailable'
    this.reason = reason
    this.detail = detail
  }
}
