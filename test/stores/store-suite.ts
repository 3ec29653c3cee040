import t, { type Test } from 'tap'
import type { PlantStore } from '../../service/plant-store.ts'
import type { TokenStore } from '../../service/token-store.ts'
import { plantSuite } from './plant-suite.ts'
import { tokenSuite } from './token-suite.ts'

export type Store = PlantStore &
  TokenStore & {
    /** Does what was asked for before; does nothing if it was called before. */
    close(): Promise<void>
  }

/** Opens a store, each time another one; all of them on the same data if the engine is `lasting`. */
export type Open = () => Promise<Store>

export interface Engine {
  /** Finds a place for the data of one test, empty and nobody else's, gone when the test is. */
  place(t: Test): Open | Promise<Open>
  /** Whether what is stored outlives the store, and other stores see it. */
  readonly lasting: boolean
}

/** What PlantStore and TokenStore oblige every engine to. */
export function storeSuite(name: string, engine: Engine): void {
  t.test(`${name}: plants`, async (t) => plantSuite(t, engine))
  t.test(`${name}: tokens`, async (t) => tokenSuite(t, engine))
}

/** Finds a place, for stores that are closed when the test ends. */
export async function opener(t: Test, engine: Engine): Promise<Open> {
  const stores: Store[] = []
  // Before the place, so that what is registered last, and runs first, is not the end of the place.
  t.teardown(() => Promise.all(stores.map((store) => store.close())))
  const open = await engine.place(t)
  return async () => {
    const store = await open()
    stores.push(store)
    return store
  }
}
