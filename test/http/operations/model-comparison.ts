/** Compares a service with an in-memory model over random sequences of operations. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Plant as WirePlant } from '../../../client/client.ts'
import type { OperationId } from '../../../contract/operation-types.ts'
import type { Plant, PlantPatch, StoredPlant } from '../../../service/plant-store.ts'
import { contentVersion } from '../../../service/plant-store.ts'
import { latestCursor, readAllChanges, replay } from '../../helpers/changes.ts'
import { each } from '../../helpers/lists.ts'
import type { Call, Caller } from '../../helpers/service.ts'
import { compareCodePoints, PlantModel } from '../../stores/plant-model.ts'
import { count, plantsIn } from '../../stores/plants.ts'

/** Few, so that operations collide. */
const IDS = [-(2n ** 63n), -1n, 0n, 2n ** 53n + 1n, 2n ** 63n - 1n]
const TAGS = ['', 'Tree', 'tree']

const id = fc.constantFrom(...IDS)
const tag = fc.constantFrom(...TAGS)
const content: fc.Arbitrary<WirePlant> = fc.record(
  { name: fc.constantFrom('', 'Abies'), tag },
  { requiredKeys: ['name'], noNullPrototype: true },
)
const patch = fc.record(
  { name: fc.constantFrom('', 'Abies'), tag: fc.oneof(tag, fc.constant(null)) },
  { requiredKeys: [] },
)
/** Entity tags for `If-Match`, given by the content that they stand for. */
const expected = fc.option(fc.array(content, { minLength: 1, maxLength: 4 }), { nil: undefined })
const version = fc.option(content, { nil: undefined })
const page = fc.record(
  {
    after: id,
    selection: fc.oneof(fc.record({ tag }), fc.constant({ untagged: true } as const)),
    q: fc.constantFrom('a', 'BIES', 'x'),
    count: fc.constant(true),
    limit: fc.integer({ min: 1, max: IDS.length }),
  },
  { requiredKeys: ['limit'] },
)

interface Expected {
  readonly status: number
  readonly json?: unknown
  readonly etag?: string
  readonly linked?: boolean
  readonly count?: string | undefined
}

/** A request, and the response that the model expects. */
type Step = readonly [call: Call, answer: (model: PlantModel) => Expected]

const create: fc.Arbitrary<Step> = fc.tuple(id, content).map(([id, plant]) => [
  { body: { id, ...plant } },
  (model) => {
    const conflict = model.create({ id, ...plant }) === 'conflict'
    return conflict ? { status: 409 } : { status: 200, json: plant }
  },
])

const createBatch: fc.Arbitrary<Step> = fc
  .array(fc.record({ id, content }), { minLength: 1, maxLength: 6 })
  .map((plants) => plants.map(({ id, content }) => ({ id, ...content })))
  .map((plants) => [
    { path: '/plants/batch', body: plants },
    (model) => {
      const distinct = new Map(plants.map((plant) => [plant.id, plant]))
      const differs = (plant: StoredPlant) =>
        tagOf(plant) !== tagOf(distinct.get(plant.id) as StoredPlant)
      if (plants.some(differs)) return { status: 400 }
      const results = model.apply(each('create', [...distinct.values()]), 'all-or-none')
      if (results.includes('conflict')) return { status: 409 }
      const created = count(results, 'created')
      return { status: 200, json: { created, replayed: plants.length - created } }
    },
  ])

/** A change of a list. `apply` returns its effect on the model, or the status with which it is refused. */
interface ListedChange {
  readonly json: object
  readonly apply: (model: PlantModel) => keyof typeof COUNTS | number
}

const COUNTS = { created: 0, changed: 0, removed: 0, unchanged: 0 }

const ifMatchOf = (before: Plant | undefined) => before && { ifMatch: tagOf(before) }

const listedCreate: fc.Arbitrary<ListedChange> = fc.record({ id, content }).map((each) => {
  const plant = { id: each.id, ...each.content }
  const effects = { created: 'created', replayed: 'unchanged', conflict: 409 } as const
  return { json: { op: 'create', ...plant }, apply: (model) => effects[model.create(plant)] }
})

const listedUpdate = (op: string, patch: PlantPatch, json: object): fc.Arbitrary<ListedChange> =>
  fc.record({ id, before: version }).map(({ id, before }) => ({
    json: { op, id, ...json, ...ifMatchOf(before) },
    apply: (model) => {
      const stored = model.get(id)
      const result = model.update(id, patch, before && [contentVersion(before)])
      if (typeof result === 'string') return REJECTED[result]
      return tagOf(result) === tagOf(stored as Plant) ? 'unchanged' : 'changed'
    },
  }))

const listedRemove: fc.Arbitrary<ListedChange> = fc
  .record({ id, before: version })
  .map(({ id, before }) => ({
    json: { op: 'remove', id, ...ifMatchOf(before) },
    apply: (model) => {
      const result = model.remove(id, before && [contentVersion(before)])
      if (result === 'not-found' && before === undefined) return 'unchanged'
      return result === 'removed' ? result : REJECTED[result]
    },
  }))

const listedChange = fc.oneof(
  listedCreate,
  content.chain((plant) => listedUpdate('replace', { tag: null, ...plant }, plant)),
  patch.chain((patch) => listedUpdate('update', patch, patch)),
  listedRemove,
)

const changeList: fc.Arbitrary<Step> = fc
  .array(listedChange, { minLength: 1, maxLength: IDS.length + 1 })
  .map((changes) => [
    { method: 'PATCH', path: '/plants', body: changes.map(({ json }) => json) },
    (model) => {
      const ids = new Set(changes.map(({ json }) => (json as StoredPlant).id))
      if (ids.size < changes.length) return { status: 400 }
      const copy = model.copy()
      const results = changes.map(({ apply }) => apply(copy))
      const status = results.find((result) => typeof result === 'number')
      if (status !== undefined) return { status }
      const json = { ...COUNTS }
      for (const { apply } of changes) json[apply(model) as keyof typeof COUNTS]++
      return { status: 200, json }
    },
  ])

const get: fc.Arbitrary<Step> = fc.tuple(id, expected).map(([id, known]) => [
  { method: 'GET', path: `/plants/${id}`, headers: headerOf('if-none-match', known) },
  (model) => {
    const plant = model.get(id)
    if (plant === undefined) return { status: 404 }
    const etag = tagOf(plant)
    if (known?.some((each) => tagOf(each) === etag)) return { status: 304, etag }
    return { status: 200, json: plant, etag }
  },
])

const replace: fc.Arbitrary<Step> = fc.tuple(id, content, expected).map(([id, plant, before]) => [
  { method: 'PUT', path: `/plants/${id}`, body: plant, headers: headerOf('if-match', before) },
  (model) =>
    changed(model.update(id, { tag: null, ...plant }, before?.map(contentVersion)), (json) => ({
      status: 200,
      json,
      etag: tagOf(json),
    })),
])

const update: fc.Arbitrary<Step> = fc.tuple(id, patch, expected).map(([id, body, before]) => [
  { method: 'PATCH', path: `/plants/${id}`, body, headers: headerOf('if-match', before) },
  (model) =>
    changed(model.update(id, body, before?.map(contentVersion)), (json) => ({
      status: 200,
      json,
      etag: tagOf(json),
    })),
])

const remove: fc.Arbitrary<Step> = fc.tuple(id, expected).map(([id, before]) => [
  { method: 'DELETE', path: `/plants/${id}`, headers: headerOf('if-match', before) },
  (model) => {
    const result = model.remove(id, before?.map(contentVersion))
    return { status: result === 'removed' ? 204 : REJECTED[result] }
  },
])

const list: fc.Arbitrary<Step> = page.map(({ selection, ...others }) => {
  const query = { ...selection, ...others }
  const tag = 'tag' in query ? query.tag : undefined
  const filter = { text: query.q ?? '', tag: 'untagged' in query ? null : tag }
  return [
    { method: 'GET', path: `/plants?${new URLSearchParams(Object.entries(query).map(text))}` },
    (model) => {
      const page = model.search({ ...others, ...filter })
      return {
        status: 200,
        json: plantsIn(page),
        linked: page.next !== undefined,
        count: query.count && String(model.count(filter).plants),
      }
    },
  ]
})

const listById: fc.Arbitrary<Step> = fc
  .array(id, { minLength: 1 })
  .map((ids) => [
    { method: 'GET', path: `/plants?${ids.map((id) => `id=${id}`).join('&')}` },
    (model) => ({ status: 200, json: plantsIn(model.getAll(ids)) }),
  ])

type Compared = Exclude<OperationId, 'listChanges' | 'listTags' | 'getToken'>

/** Random requests of each operation whose responses the model predicts. Changes and tags are compared at the end. */
const STEPS: Readonly<Record<Compared, fc.Arbitrary<Step>>> = {
  createPlant: create,
  createPlants: createBatch,
  changePlants: changeList,
  listPlants: fc.oneof(list, listById),
  getPlant: get,
  replacePlant: replace,
  updatePlant: update,
  deletePlant: remove,
}

const REJECTED = { 'not-found': 404, changed: 412 }

/**
 * Sends sequences of requests to a service and to the model.
 *
 * @param sequences their number
 */
export async function compareWithModel(service: Caller, sequences: number): Promise<void> {
  // Twice as many creates, so that the others find plants.
  const steps = fc.array(fc.oneof(create, ...Object.values(STEPS)), {
    minLength: 5,
    maxLength: 40,
    size: 'max',
  })
  await fc.assert(
    fc.asyncProperty(steps, async (steps) => {
      await Promise.all(IDS.map((id) => service.call({ method: 'DELETE', path: `/plants/${id}` })))
      const start = await latestCursor(service)
      const model = new PlantModel()
      for (const [call, answer] of steps) {
        const { status, json, etag, linked = false, count } = answer(model)
        const got = await service.call(call)
        assert.equal(got.status, status)
        if (status < 400) assert.deepEqual(got.json, json)
        assert.equal(got.headers.etag, etag)
        assert.equal(got.headers.link !== undefined, linked)
        assert.equal(got.headers['plant-count'], count)
      }
      const { json } = await service.call({ method: 'GET' })
      assert.deepEqual(json, model.exportPlants())
      const tags = (await service.call({ method: 'GET', path: '/tags' })).json as string[]
      assert.deepEqual(tags.toSorted(compareCodePoints), model.listTags({ limit: 100 }).tags)
      const changes = await readAllChanges(service, `?after=${start}&limit=7`)
      assert.deepEqual(replay(changes), json)
    }),
    { numRuns: sequences },
  )
}

function changed(
  result: StoredPlant | keyof typeof REJECTED,
  done: (plant: StoredPlant) => Expected,
) {
  return typeof result === 'string' ? { status: REJECTED[result] } : done(result)
}

function tagOf(plant: Plant): string {
  return `"${contentVersion(plant)}"`
}

function headerOf(name: string, plants: Plant[] | undefined): Record<string, string> {
  return plants ? { [name]: plants.map(tagOf).join(', ') } : {}
}

function text([name, value]: [string, unknown]): [string, string] {
  return [name, String(value)]
}
