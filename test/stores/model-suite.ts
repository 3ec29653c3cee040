import { inspect, isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import type { Test } from 'tap'
import { toWords } from '../../core/members/words.ts'
import { contentVersion } from '../../service/store/content-version.ts'
import { type FieldsPatch, writeFields } from '../../service/store/plant-content.ts'
import type {
  NewPlant,
  PlantChange,
  PlantPatch,
  PlantStore,
  TagPage,
} from '../../service/store/plant-store.ts'
import { storable } from '../helpers/plants/arbitraries.ts'
import { runs } from '../helpers/plants/runs.ts'
import { removeFrom } from '../helpers/plants/single-changes.ts'
import { changesAfter, latest, replay } from './feed-reads.ts'
import { compareCodePoints, type Modeled, PlantModel } from './plant-model.ts'
import { exported, MAX, MIN } from './plants.ts'
import { type Engine, opener } from './store-suite.ts'

/** A call of a method that stores and the model have. */
type Operation = {
  [Name in keyof Modeled]: [name: Name, ...parameters: Parameters<PlantStore[Name]>]
}[keyof Modeled]

interface Made {
  readonly operation: Operation
  readonly result: unknown
}

/** Which versions to expect. They depend on what is stored when the call is made. */
type Planned = (model: PlantModel) => Operation

const IDS = [MIN, 0n, MAX]

type Expected = 'any' | 'none' | 'current' | 'stale' | 'several'

/** More runs for a store that does not wait for a disk. */
const RUNS = { lasting: 50, passing: 200 }

/** Compares random operations, sequential and concurrent, with a model based on a Map, and the changes that they log. */
export function modelSuite(t: Test, engine: Engine): void {
  t.test('random sequences of operations have the same results as in the model', async (t) => {
    const open = await opener(t, engine)
    // Concurrent operations go to different stores if they share the data.
    const stores = engine.lasting ? [await open(), await open()] : [await open()]
    const store = stores[0] as PlantStore
    const property = fc.asyncProperty(
      fc.array(operations(), { maxLength: 8 }),
      async (sequence) => {
        await Promise.all(IDS.map((id) => removeFrom(store, id)))
        const start = await latest(store)
        let model = new PlantModel()
        for (const planned of sequence) {
          const operations = planned.map((operation) => operation(model))
          const made = await Promise.all(
            operations.map(async (operation, index) => {
              const one = stores[index % stores.length] ?? store
              return { operation, result: await callStore(one, operation) }
            }),
          )
          model = explained(model, made, await exported(store))
        }
        const replayed = replay(await changesAfter(store, start))
        if (!isDeepStrictEqual(replayed, model.exportPlants())) {
          throw new Error(`the changes yield ${inspect(replayed)}`)
        }
      },
    )
    await fc.assert(property, { numRuns: runs(engine.lasting ? RUNS.lasting : RUNS.passing) })
  })
}

/** The model after concurrent operations, in an order that explains their results. */
function explained(model: PlantModel, made: readonly Made[], stored: unknown): PlantModel {
  for (const ending of endingsOf(model, made)) {
    if (isDeepStrictEqual(ending.exportPlants(), stored)) return ending
  }
  throw new Error(
    `no order explains ${inspect({ before: model.exportPlants(), made, stored }, { depth: 6 })}`,
  )
}

function* endingsOf(model: PlantModel, made: readonly Made[]): Generator<PlantModel, void> {
  if (made.length === 0) yield model
  for (const first of made) {
    const next = model.copy()
    if (!isDeepStrictEqual(callModel(next, first.operation), first.result)) continue
    yield* endingsOf(
      next,
      made.filter((each) => each !== first),
    )
  }
}

async function callStore(store: PlantStore, [name, ...parameters]: Operation): Promise<unknown> {
  if (name === 'exportPlants') return exported(store)
  const result = await (store[name] as (...parameters: unknown[]) => Promise<unknown>)(
    ...parameters,
  )
  return name === 'listTags' ? sorted(result as TagPage) : result
}

function sorted({ tags, next }: TagPage): TagPage {
  return { tags: tags.toSorted(compareCodePoints), next }
}

function callModel(model: PlantModel, [name, ...parameters]: Operation): unknown {
  return (model[name] as (...parameters: unknown[]) => unknown)(...parameters)
}

function versions(expected: Expected, model: PlantModel, id: bigint): string[] | undefined {
  const stored = model.get(id)
  const current = stored === undefined ? [] : [contentVersion(stored)]
  const stale = contentVersion({ name: 'never stored' })
  return { any: undefined, none: [], current, stale: [stale], several: [stale, ...current] }[
    expected
  ]
}

/** Generates objects with a prototype, like those that stores return. */
const PLAIN = { noNullPrototype: true }

/** Adds a patch of own fields. */
function withFields<Values extends object>(
  values: fc.Arbitrary<Values>,
): fc.Arbitrary<Values & FieldsPatch> {
  const height = fc.constantFrom('1', '2', 'null')
  const light = fc.constantFrom('""', 'null')
  const members = fc.record({ light, height }, { requiredKeys: [], ...PLAIN })
  return fc.tuple(values, members).map(([values, members]) => {
    const [set, removed] = [false, true].map((isRemoved) =>
      Object.entries(members).filter(([, json]) => (json === 'null') === isRemoved),
    )
    const [fields, clears] = [set, removed].map((entries = []) => writeFields(entries))
    return {
      ...values,
      ...(fields !== undefined && { fields }),
      ...(clears !== undefined && { clears }),
    }
  })
}

function operations(): fc.Arbitrary<Planned[]> {
  const text = fc.oneof(
    { arbitrary: fc.constantFrom('', 'a', '\u00e9', 'e\u0301'), weight: 4 },
    {
      arbitrary: storable,
      weight: 1,
    },
  )
  const words = text.map(toWords)
  const id = fc.constantFrom(...IDS)
  const plant: fc.Arbitrary<NewPlant> = withFields(
    fc.record({ id, name: text, tag: text }, { requiredKeys: ['id', 'name'], ...PLAIN }),
  )
  const patch: fc.Arbitrary<PlantPatch> = withFields(
    fc.record({ name: text, tag: fc.option(text, { freq: 2 }) }, { requiredKeys: [], ...PLAIN }),
  )
  const request = fc.record(
    { after: id, isDescending: fc.boolean(), tag: text, limit: fc.integer({ min: 1, max: 6 }) },
    { requiredKeys: ['limit'], ...PLAIN },
  )
  const expected = fc.constantFrom<Expected[]>('any', 'none', 'current', 'stale', 'several')

  const change: fc.Arbitrary<(model: PlantModel) => PlantChange> = fc.oneof(
    plant.map((plant) => () => ({ ...plant, type: 'create' as const })),
    plant.map((plant) => () => ({ ...plant, type: 'put' as const })),
    fc.tuple(plant, expected).map(([plant, expected]) => (model: PlantModel) => ({
      ...plant,
      type: 'replace' as const,
      expected: versions(expected, model, plant.id),
    })),
    fc.tuple(id, patch, expected).map(([id, patch, expected]) => (model: PlantModel) => ({
      type: 'update' as const,
      id,
      patch,
      expected: versions(expected, model, id),
    })),
    fc.tuple(id, expected).map(([id, expected]) => (model: PlantModel) => ({
      type: 'remove' as const,
      id,
      expected: versions(expected, model, id),
    })),
  )

  /** Calls of every method. */
  const calls: Readonly<Record<keyof Modeled, fc.Arbitrary<Planned>>> = {
    change: change.map((change) => (model) => ['change', change(model)]),
    apply: fc
      .tuple(fc.array(change, { maxLength: 6 }), fc.constantFrom('all-or-none', 'each'))
      .map(([changes, mode]) => (model) => ['apply', changes.map((change) => change(model)), mode]),
    get: id.map((id) => () => ['get', id]),
    list: fc.tuple(request, words).map(([request, words]) => () => ['list', { ...request, words }]),
    getAll: fc
      .uniqueArray(id)
      .map((ids) => ids.sort((one, other) => (one < other ? -1 : 1)))
      .map((ids) => () => ['getAll', ids]),
    count: fc
      .record({ words, tag: fc.option(text) }, { requiredKeys: ['words'], ...PLAIN })
      .map((filter) => () => ['count', filter]),
    // All at once, because engines differ in their order.
    listTags: fc.constant(() => ['listTags', { limit: 1000 }]),
    exportPlants: fc.constant(() => ['exportPlants']),
  }
  const { change: single, apply } = calls
  const changing = [...Array.from({ length: 5 }, () => single), apply]
  const operation = fc.oneof(...changing, ...Object.values(calls))
  return fc.oneof(
    operation.map((alone) => [alone]),
    fc.array(operation, { minLength: 2, maxLength: 5 }),
  )
}
