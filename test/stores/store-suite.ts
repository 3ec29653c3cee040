import type { Test } from 'tap'
import type { PlantStore } from '../../service/plant-store.ts'
import type { TokenStore } from '../../service/token-store.ts'
import { changeSuite } from './change-suite.ts'
import { createSuite } from './create-suite.ts'
import { exportSuite } from './export-suite.ts'
import { importSuite } from './import-suite.ts'
import { lastingSuite } from './lasting-suite.ts'
import { modelSuite } from './model-suite.ts'
import { readSuite } from './read-suite.ts'
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
export function storeSuite(t: Test, name: string, engine: Engine): void {
  for (const [what, suite] of [
    ['creating plants', createSuite],
    ['reading plants', readSuite],
    ['changing plants', changeSuite],
    ['importing plants', importSuite],
    ['exporting plants', exportSuite],
    ['plants by a model', modelSuite],
    ['tokens', tokenSuite],
  ] as const) {
    t.test(`${name}: ${what}`, async (t) => suite(t, engine))
  }
  if (engine.lasting) t.test(`${name}: plants that last`, async (t) => lastingSuite(t, engine))
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
