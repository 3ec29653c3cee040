/** Compares a service with an in-memory model over random sequences of operations. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { OperationId } from '../../../core/contract/operation-types.ts'
import { toWords } from '../../../core/members/words.ts'
import { plantJson } from '../../../service/store/plant-content.ts'
import type { Plant, PlantPatch, StoredPlant } from '../../../service/store/plant-store.ts'
import { latestCursor, readAllChanges, replay } from '../../helpers/plants/changes.ts'
import { each } from '../../helpers/plants/lists.ts'
import { runs } from '../../helpers/plants/runs.ts'
import { type Call, type Caller, parseExact } from '../../helpers/service/service.ts'
import { compareCodePoints, PlantModel } from '../../stores/plant-model.ts'
import { count } from '../../stores/plants.ts'
import {
  type Content,
  type Contents,
  extended,
  plain,
  tag,
  tagOf,
  toPatch,
  toPlant,
  toReplacement,
  versionOf,
  versionTag,
} from './contents.ts'

/** Few, so that operations collide. */
const IDS = [-(2n ** 63n), -1n, 0n, 2n ** 53n + 1n, 2n ** 63n - 1n]

const id = fc.constantFrom(...IDS)
/** Entity tags for `If-Match`, given by the content that they stand for. */
const expected = ({ content }: Contents) =>
  fc.option(fc.array(content, { minLength: 1, maxLength: 4 }), { nil: undefined })
const version = ({ content }: Contents) => fc.option(content, { nil: undefined })
const page = fc.record(
  {
    after: id,
    selection: fc.oneof(fc.record({ tag }), fc.constant({ untagged: true } as const)),
    q: fc.constantFrom('a', 'lba BIES', 'x'),
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

type Steps = (contents: Contents) => fc.Arbitrary<Step>

const create: Steps = ({ content }) =>
  fc.tuple(id, content).map(([id, plant]) => [
    { body: { id, ...plant } },
    (model) => {
      const conflict = model.change({ type: 'create', id, ...toPlant(plant) }) === 'plant-exists'
      return conflict ? { status: 409 } : { status: 200, json: plant }
    },
  ])

const createBatch: Steps = ({ content }) =>
  fc.array(fc.record({ id, content }), { minLength: 1, maxLength: 6 }).map((plants) => [
    { path: '/plants/batch', body: plants.map(({ id, content }) => ({ id, ...content })) },
    (model) => {
      const given = plants.map(({ id, content }) => ({ id, ...toPlant(content) }))
      const distinct = new Map(given.map((plant) => [plant.id, plant]))
      const differs = (plant: StoredPlant) =>
        versionTag(plant) !== versionTag(distinct.get(plant.id) as StoredPlant)
      if (given.some(differs)) return { status: 400 }
      const results = model.apply(each('create', [...distinct.values()]), 'all-or-none')
      if (results.includes('plant-exists')) return { status: 409 }
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

/** What a change of a list expects, as its version or as its content. */
const expectation = (contents: Contents) =>
  fc.record({ id, before: version(contents), isContent: fc.boolean() }).map((given) => {
    const { id, before, isContent } = given
    if (before === undefined) return { id, json: {}, expected: undefined }
    return isContent
      ? { id, json: { ifContent: before }, expected: { id, ...toPlant(before) } }
      : { id, json: { ifMatch: tagOf(before) }, expected: [versionOf(before)] }
  })

const listedCreate = ({ content }: Contents): fc.Arbitrary<ListedChange> =>
  fc.record({ id, content }).map(({ id, content }) => {
    const effects = { created: 'created', unchanged: 'unchanged', 'plant-exists': 409 } as const
    return {
      json: { op: 'create', id, ...content },
      apply: (model) => effects[model.change({ type: 'create', id, ...toPlant(content) })],
    }
  })

const listedUpdate = (
  contents: Contents,
  op: string,
  { json, patch }: { readonly json: object; readonly patch: PlantPatch },
): fc.Arbitrary<ListedChange> =>
  expectation(contents).map(({ id, json: condition, expected }) => ({
    json: { op, id, ...json, ...condition },
    apply: (model) => {
      const stored = model.get(id)
      const result = model.change({
        type: 'update',
        id,
        patch,
        expected,
      })
      if (typeof result === 'string') return REJECTED[result]
      return versionTag(result) === versionTag(stored as Plant) ? 'unchanged' : 'changed'
    },
  }))

const listedRemove = (contents: Contents): fc.Arbitrary<ListedChange> =>
  expectation(contents).map(({ id, json, expected }) => ({
    json: { op: 'remove', id, ...json },
    apply: (model) => {
      const result = model.change({ type: 'remove', id, expected })
      return result === 'removed' || result === 'unchanged' ? result : REJECTED[result]
    },
  }))

const listedChange = (contents: Contents) =>
  fc.oneof(
    listedCreate(contents),
    contents.content.chain((json) =>
      listedUpdate(contents, 'replace', { json, patch: toReplacement(json) }),
    ),
    contents.patch.chain((json) =>
      listedUpdate(contents, 'update', { json, patch: toPatch(json) }),
    ),
    listedRemove(contents),
  )

const changeList: Steps = (contents) =>
  fc.array(listedChange(contents), { minLength: 1, maxLength: IDS.length + 1 }).map((changes) => [
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

const get: Steps = (contents) =>
  fc.tuple(id, expected(contents)).map(([id, known]) => [
    { method: 'GET', path: `/plants/${id}`, headers: headerOf('if-none-match', known) },
    (model) => {
      const plant = model.get(id)
      if (plant === undefined) return { status: 404 }
      const etag = versionTag(plant)
      if (known?.some((each) => tagOf(each) === etag)) return { status: 304, etag }
      return { status: 200, json: toJson(plant), etag }
    },
  ])

const replace: Steps = (contents) =>
  fc
    .tuple(id, contents.content, expected(contents))
    .map(([id, body, before]) => [
      { method: 'PUT', path: `/plants/${id}`, body, headers: headerOf('if-match', before) },
      (model) => changed(model, id, toReplacement(body), before),
    ])

const update: Steps = (contents) =>
  fc
    .tuple(id, contents.patch, expected(contents))
    .map(([id, body, before]) => [
      { method: 'PATCH', path: `/plants/${id}`, body, headers: headerOf('if-match', before) },
      (model) => changed(model, id, toPatch(body), before),
    ])

const remove: Steps = (contents) =>
  fc.tuple(id, expected(contents)).map(([id, before]) => [
    { method: 'DELETE', path: `/plants/${id}`, headers: headerOf('if-match', before) },
    (model) => {
      const result = model.change({ type: 'remove', id, expected: before?.map(versionOf) })
      if (result === 'removed') return { status: 204 }
      return { status: result === 'unchanged' ? 404 : REJECTED[result] }
    },
  ])

const list: fc.Arbitrary<Step> = page.map(({ selection, ...others }) => {
  const query = { ...selection, ...others }
  const tag = 'tag' in query ? query.tag : undefined
  const filter = {
    words: query.q === undefined ? undefined : toWords(query.q),
    tag: 'untagged' in query ? null : tag,
  }
  return [
    { method: 'GET', path: `/plants?${new URLSearchParams(Object.entries(query).map(text))}` },
    (model) => {
      const page = model.list({ ...others, ...filter })
      return {
        status: 200,
        json: parseExact(page.json),
        linked: page.next !== undefined,
        count: query.count && String(model.count(filter).found),
      }
    },
  ]
})

const listById: fc.Arbitrary<Step> = fc
  .array(id, { minLength: 1 })
  .map((ids) => [
    { method: 'GET', path: `/plants?${ids.map((id) => `id=${id}`).join('&')}` },
    (model) => ({ status: 200, json: parseExact(model.getAll(ids).json) }),
  ])

type Compared = Exclude<OperationId, 'listChanges' | 'listTags' | 'getToken'>

/** Random requests of each operation whose responses the model predicts. Changes and tags are compared at the end. */
const STEPS: Readonly<Record<Compared, Steps>> = {
  createPlant: create,
  createPlants: createBatch,
  changePlants: changeList,
  listPlants: () => fc.oneof(list, listById),
  getPlant: get,
  replacePlant: replace,
  updatePlant: update,
  deletePlant: remove,
}

const REJECTED = { 'plant-not-found': 404, 'plant-changed': 412 }

/**
 * Sends sequences of requests to a service and to the model.
 *
 * @param sequences their number
 * @param withFields whether the contract has the fields of `nursery`
 */
export async function compareWithModel(
  service: Caller,
  sequences: number,
  withFields = false,
): Promise<void> {
  const contents = withFields ? extended : plain
  // Twice as many creates, so that the others find plants.
  const choices = [create, ...Object.values(STEPS)].map((steps) => steps(contents))
  const steps = fc.array(fc.oneof(...choices), { minLength: 5, maxLength: 40, size: 'max' })
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
      assert.deepEqual(json, model.exportPlants().map(toJson))
      const tags = (await service.call({ method: 'GET', path: '/tags' })).json as string[]
      assert.deepEqual(tags.toSorted(compareCodePoints), model.listTags({ limit: 100 }).tags)
      const changes = await readAllChanges(service, `?after=${start}&limit=7`)
      assert.deepEqual(replay(changes), json)
    }),
    { numRuns: runs(sequences) },
  )
}

function changed(
  model: PlantModel,
  id: bigint,
  patch: PlantPatch,
  before: Content[] | undefined,
): Expected {
  const result = model.change({ type: 'update', id, patch, expected: before?.map(versionOf) })
  if (typeof result === 'string') return { status: REJECTED[result] }
  return { status: 200, json: toJson(result), etag: versionTag(result) }
}

/** A plant of the model as in the API. */
function toJson(plant: StoredPlant): unknown {
  return parseExact(plantJson(plant))
}

function headerOf(name: string, plants: Content[] | undefined): Record<string, string> {
  return plants ? { [name]: plants.map(tagOf).join(', ') } : {}
}

function text([name, value]: [string, unknown]): [string, string] {
  return [name, String(value)]
}
