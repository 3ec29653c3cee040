import { type MirrorRestriction, restrict } from '../../service/restriction.ts'
import { declareIndexes, removeIndex } from '../../service/sorting.ts'
import { contentVersion } from '../../service/store/content-version.ts'
import type { RecordChange } from '../../service/store/record-store.ts'
import { keyRanges } from '../../service/store/sort-index.ts'
import type { Store } from '../../src/stores/shared/store.ts'
import { createAll, each, removals } from '../helpers/plants/lists.ts'
import { createIn, removeFrom, updateIn } from '../helpers/plants/single-changes.ts'
import { exported } from './plants.ts'

type Call = (store: Store) => unknown

const plant = { id: 1n, name: 'other', tag: 'tag 1' }
const record = (expected: string | undefined, next: string | undefined): RecordChange => ({
  kind: 'setting',
  key: 'called',
  expected,
  next,
})
const mirror: MirrorRestriction = { source: 'https://source.example', cursor: 'x' }

const NAME = { name: 'name', type: 'string', isRequired: true } as const

const SORTED = [false, true].flatMap((isDescending) =>
  [undefined, ['plant']].map(
    (words): Call =>
      (store) => {
        const ranges = keyRanges(NAME, {}, isDescending)
        return store.listSorted({ member: NAME, words, ranges, isDescending, limit: 10 })
      },
  ),
)

/** Calls of the methods of the store itself. */
const METHOD_CALLS: Record<
  Exclude<keyof Store, 'close' | 'share' | 'advise' | 'metrics' | 'reset' | 'webhooks'>,
  readonly Call[]
> = {
  ping: [(store) => store.ping()],
  change: [
    (store) => createIn(store, plant),
    (store) => store.change({ ...plant, type: 'replace' }),
    async (store) =>
      store.change({ ...plant, type: 'replace', expected: [await versionIn(store)] }),
    (store) => updateIn(store, 1n, { name: 'x', tag: null }),
    async (store) => updateIn(store, 1n, { name: 'y' }, [await versionIn(store)]),
    (store) => store.change({ ...plant, type: 'put', name: 'put' }),
    async (store) => removeFrom(store, 1n, [await versionIn(store)]),
    (store) => removeFrom(store, 1n),
    (store) => createIn(store, plant),
  ],
  apply: [
    (store) => createAll(store, [plant, { ...plant, id: -1n }]),
    (store) =>
      createAll(store, [
        { ...plant, id: -3n },
        { ...plant, name: 'conflict' },
      ]),
    (store) => store.apply(each('put', [{ ...plant, name: 'replaced' }]), 'each'),
    (store) => store.apply([{ type: 'update', id: -1n, patch: { tag: null } }], 'each'),
    (store) => store.apply(removals([-1n, -2n]), 'each'),
    (store) => restrict(store, { expected: undefined, next: mirror }),
    (store) => restrict(store, { expected: undefined, next: 'frozen' }),
    (store) => restrict(store, { expected: 'frozen', next: { ...mirror, copyFrom: 0n } }),
    (store) =>
      restrict(store, {
        expected: { ...mirror, copyFrom: 0n },
        next: mirror,
        changes: [...each('put', [plant, { ...plant, id: -4n }]), ...removals([-4n])],
      }),
    (store) => restrict(store, { expected: mirror, next: undefined }),
  ],
  get: [(store) => store.get(1n)],
  list: [
    (store) => store.list({ limit: 10 }),
    (store) => store.list({ limit: 10, after: 1000n }),
    (store) => store.list({ limit: 10, tag: 'tag 1' }),
    (store) => store.list({ limit: 10, tag: 'tag 1', after: 1000n }),
    (store) => store.list({ limit: 10, isDescending: true }),
    (store) => store.list({ limit: 10, isDescending: true, tag: 'tag 1' }),
    (store) => store.list({ limit: 10, isDescending: true, words: ['plant'] }),
    (store) => store.list({ limit: 10, isDescending: true, words: ['plant'], tag: 'tag 1' }),
    (store) => store.list({ limit: 10, isDescending: true, words: ['plant'], tag: null }),
    (store) => store.list({ limit: 10, words: ['plant'] }),
    (store) => store.list({ limit: 10, words: ['plant'], tag: 'tag 1' }),
    (store) => store.list({ limit: 10, tag: null }),
  ],
  listSorted: SORTED,
  indexPlants: [
    async (store) => {
      await declareIndexes(store, [NAME])
      while (await store.indexPlants());
    },
    ...SORTED,
    (store) => createIn(store, { ...plant, id: -5n }),
    async (store) => {
      await store.indexPlants()
      await removeIndex(store, 'name')
      while (await store.indexPlants());
    },
    (store) => removeFrom(store, -5n),
  ],
  getAll: [(store) => store.getAll([1n, 5n, 1000n])],
  count: [[], ['plant']].flatMap((words) =>
    [undefined, 'tag 1', null].map((tag) => (store: Store) => store.count({ words, tag })),
  ),
  listTags: [
    (store) => store.listTags({ limit: 10 }),
    async (store) => store.listTags({ limit: 10, after: await tagPositionIn(store) }),
  ],
  readChanges: [
    (store) => store.readChanges({ limit: 10 }),
    (store) => store.readChanges({ limit: 10, after: 'latest' }),
    async (store) => store.readChanges({ limit: 10, after: await cursorIn(store) }),
  ],
  nextCommit: [(store) => Promise.all([store.nextCommit(), removeFrom(store, 1000n)])],
  exportPlants: [(store) => exported(store)],
  findRecord: [
    (store) => store.findRecord('setting', { key: 'called' }),
    (store) => store.findRecord('token', { alias: 'called' }),
  ],
  listRecords: [(store) => store.listRecords(['token', 'setting'])],
  changeRecords: [
    (store) => store.changeRecords([record(undefined, 'x'), record('x', 'y')], 'each'),
    (store) =>
      store.changeRecords([{ ...record(undefined, 'x'), key: 'other', max: 1 }], 'all-or-none'),
    (store) => store.changeRecords([record('y', 'z'), record('z', 'a')], 'each'),
    (store) => store.changeRecords([record('a', undefined)], 'each'),
  ],
}

/**
 * Calls of every method of a store, with parameters that cover all its statements. They assume that plant 1 exists.
 * This file does not compile until it calls each new method, so that `query-plans.test.ts` of each engine checks its
 * statements.
 */
export const STORE_CALLS: readonly Call[] = [METHOD_CALLS].flatMap((calls) =>
  Object.values(calls).flat(),
)

/** The cursor of the first change. */
async function cursorIn(store: Store): Promise<string | undefined> {
  const page = await store.readChanges({ limit: 1 })
  return typeof page === 'string' ? undefined : page.next
}

async function versionIn(store: Store): Promise<string> {
  const stored = await store.get(1n)
  return stored === undefined ? '' : contentVersion(stored)
}

async function tagPositionIn(store: Store): Promise<string | undefined> {
  const page = await store.listTags({ limit: 1 })
  return page === 'malformed' ? undefined : page.next
}
