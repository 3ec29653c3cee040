import type { Test } from 'tap'
import type { StoreOptions } from '../../src/stores/shared/engine.ts'
import type { Store } from '../../src/stores/shared/store.ts'
import { modelSuite } from './model-suite.ts'
import { changeSuite } from './suites/change-suite.ts'
import { createSuite } from './suites/create-suite.ts'
import { exportSuite } from './suites/export-suite.ts'
import { feedSuite } from './suites/feed-suite.ts'
import { fieldsSuite, settingSuite } from './suites/fields-suite.ts'
import { lastingSuite } from './suites/lasting-suite.ts'
import { listSuite } from './suites/list-suite.ts'
import { countSuite } from './suites/reads/count-suite.ts'
import { filterSuite } from './suites/reads/filter-suite.ts'
import { readSuite } from './suites/reads/read-suite.ts'
import { searchSuite } from './suites/reads/search-suite.ts'
import { sortSuite } from './suites/reads/sort-suite.ts'
import { tagSuite } from './suites/reads/tag-suite.ts'
import { restrictionSuite } from './suites/restriction-suite.ts'
import { sharedFeedSuite } from './suites/shared-feed-suite.ts'
import { tokenSuite } from './suites/token-suite.ts'
import { webhookSuite } from './suites/webhook-suite.ts'

/** Opens a new store. All stores share their data if the engine is `lasting`. */
export type Open = (options?: Pick<StoreOptions, 'readsIncomplete'>) => Promise<Store>

export interface Engine {
  /** Provides a database for one test, and removes it afterwards. */
  place(t: Test): Open | Promise<Open>
  /** Whether the data outlives the store and is visible to other stores. */
  readonly lasting: boolean
}

type Suites = readonly (readonly [what: string, suite: (t: Test, engine: Engine) => unknown])[]

const ALWAYS: Suites = [
  ['random operations', modelSuite],
  ['exporting plants', exportSuite],
  ['following changes', feedSuite],
]

const CHANGES: Suites = [
  ['creating plants', createSuite],
  ['applying lists of changes', listSuite],
  ['changing plants', changeSuite],
  ['own fields', fieldsSuite],
  ['restrictions', restrictionSuite],
  ['settings', settingSuite],
  ['tokens', tokenSuite],
  ['webhooks', webhookSuite],
  ['following changes of others', sharedFeedSuite],
  ['shared and reopened databases', lastingSuite],
]

const READS: Suites = [
  ['reading plants', readSuite],
  ['searching plants', searchSuite],
  ['selecting plants by own fields', filterSuite],
  ['counting many plants', countSuite],
  ['listing tags', tagSuite],
  ['sorting plants', sortSuite],
]

/**
 * Tests the requirements that PlantStore, RecordStore, TokenStore and WebhookStore state for every
 * engine. A store in memory runs the same statements as one in a file, so it needs only some of the tests.
 */
export function storeSuite(t: Test, name: string, engine: Engine): void {
  const suites = engine.lasting ? [...ALWAYS, ...CHANGES, ...READS] : ALWAYS
  for (const [what, suite] of suites) t.test(`${name}: ${what}`, async (t) => suite(t, engine))
}

/** The tests for an engine that differs from another only in how it makes changes. */
export function writerSuite(t: Test, name: string, engine: Engine): void {
  for (const [what, suite] of [...ALWAYS, ...CHANGES]) {
    t.test(`${name}: ${what}`, async (t) => suite(t, engine))
  }
}

/** Provides an empty database, whose stores are closed when the test ends. */
export async function opener(t: Test, engine: Engine): Promise<Open> {
  const stores: Store[] = []
  // Registered before `place` makes a folder, so that tap closes the stores before it removes the folder.
  t.teardown(() => Promise.all(stores.map((store) => store.close())))
  const open = await engine.place(t)
  return async (options) => {
    const store = await open(options)
    stores.push(store)
    return store
  }
}
