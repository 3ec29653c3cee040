import type { components } from '../src/contract/api.gen.ts'

export type Plant = components['schemas']['Plant']
export type NewPlant = components['schemas']['NewPlant']

/**
 * What became of a create:
 * - `created`: the id was free and the plant is stored;
 * - `replayed`: the same plant, name and tag alike, was stored under the id before;
 * - `conflict`: another plant is stored under the id, and untouched.
 */
export type CreateResult = 'created' | 'replayed' | 'conflict'

/**
 * Where plants are kept. A store is told of well-formed plants only: ids within int64, text without
 * U+0000 and lone surrogates. What it gives back equals what it was given, code point for code point;
 * a missing tag and an empty one are different.
 */
export interface PlantStore {
  /**
   * Stores a plant, if its id is free. Resolves only when what it says would survive the loss of
   * power; creates that arrive together may be made durable together. Of any number of concurrent
   * creates of one id exactly one is `created`.
   *
   * @throws StoreUnavailable when the store could not do it now; the plant may be stored all the
   *   same, and sending it again finds out.
   */
  create(plant: NewPlant): Promise<CreateResult>

  /**
   * Resolves if the store answers.
   *
   * @throws StoreUnavailable if it does not.
   */
  check(): Promise<void>
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
