/** The operations that read plants. A read of many plants is a read of each plant that its page covers. */
import { parseJson } from '../../../client/json.ts'
import type { StoredPlant } from '../../../service/store/plant-store.ts'
import type { Call } from '../history.ts'
import type { Operation } from './operation.ts'
import { GENERA, ownTags, PLANTS } from './plants.ts'
import { contentOf, exactReadStep, readStep, type State, type Step, versionOf } from './register.ts'

export const get: Operation = {
  plan: (random, { versions }) => {
    const id = random.pick(PLANTS)
    const version = versions.get(id)
    return { id, ...(version !== undefined && random.oneIn(4) && { version }) }
  },
  request: ({ id, version }) => ({
    method: 'GET',
    path: `/plants/${id}`,
    ...(version !== undefined && { ifNoneMatch: version }),
  }),
  steps: ({ arguments: { id = 0n, version }, answer }) => {
    if (answer?.status === 304) return [versionStep(id, version)]
    if (answer?.status === 404) return [exactReadStep(id, undefined)]
    const plant = contentOf(parseJson(answer?.body ?? '') as StoredPlant)
    if (answer?.etag !== `"${versionOf(plant)}"`)
      throw new Error(`${answer?.etag} is not its version`)
    return [exactReadStep(id, plant)]
  },
}

export const head: Operation = {
  plan: (random) => ({ id: random.pick(PLANTS) }),
  request: ({ id }) => ({ method: 'HEAD', path: `/plants/${id}` }),
  steps: ({ arguments: { id = 0n }, answer }) => {
    if (answer?.status === 404) return [exactReadStep(id, undefined)]
    return [versionStep(id, answer?.etag?.slice(1, -1))]
  },
}

export const list: Operation = {
  plan: (random) => {
    const query = new URLSearchParams()
    if (random.oneIn(2)) query.set('limit', String(1 + random.below(PLANTS.length)))
    if (random.oneIn(2)) query.set('after', String(random.pick(PLANTS)))
    if (random.oneIn(3)) query.set('tag', random.pick(['Tree', ...ownTags(random.pick(PLANTS))]))
    return { query: String(query) }
  },
  request: ({ query }) => ({ method: 'GET', path: `/plants?${query}` }),
  steps: pageSteps,
}

export const getMany: Operation = {
  ...list,
  plan: (random) => {
    const ids = random.shuffled(PLANTS).slice(0, 1 + random.below(PLANTS.length))
    return { query: ids.map((id) => `id=${id}`).join('&') }
  },
}

export const search: Operation = {
  ...list,
  plan: (random) => ({ query: `q=${random.pick(GENERA).toLowerCase()}&limit=1000` }),
}

export const listTags: Operation = {
  plan: () => ({ query: 'limit=1000' }),
  request: ({ query }) => ({ method: 'GET', path: `/tags?${query}` }),
  steps: ({ answer }) => {
    const tags = new Set(JSON.parse(answer?.body ?? '') as string[])
    // A page of tags is read in slices, each at its own moment, so it can show two tags of a plant, or none.
    return PLANTS.flatMap((id) => [
      ...ownTags(id).map((own) => readStep(id, (state) => tags.has(own) === (state?.tag === own))),
      ...(tags.has('Tree') ? [] : [readStep(id, (state) => state?.tag !== 'Tree')]),
    ])
  },
}

/** The plants of a page, as its response shows them. */
export function plantsOf({ answer }: Call): StoredPlant[] {
  return parseJson(answer?.body ?? '') as StoredPlant[]
}

/** What a page says about each plant that it covers: its content, or that the plant does not match. */
function pageSteps(call: Call): Step[] {
  const query = new URLSearchParams(call.arguments.query)
  const [tag, text] = [query.get('tag'), query.get('q')]
  const matches = (state: State) =>
    state !== undefined &&
    (tag === null || state.tag === tag) &&
    (text === null || state.name.toLowerCase().includes(text))
  const page = new Map(plantsOf(call).map((plant) => [plant.id, contentOf(plant)]))
  const covered = coveredBy(call, query)
  const unknown = [...page.keys()].filter((id) => !covered.includes(id))
  if (unknown.length > 0) throw new Error(`nobody asked for ${unknown}`)
  return covered.map((id) => {
    const plant = page.get(id)
    if (plant === undefined) return readStep(id, (state) => !matches(state))
    if (!matches(plant)) throw new Error(`${id} does not match ${query}`)
    return exactReadStep(id, plant)
  })
}

/** The plants of which a page says something, although it may not contain them. */
export function coveredBy({ answer }: Call, query: URLSearchParams): readonly bigint[] {
  const after = query.get('after')
  const [, last] = /[?&]after=(-?\d+)/.exec(answer?.link ?? '') ?? []
  const ids = query.getAll('id').map(BigInt)
  return PLANTS.filter(
    (id) =>
      (ids.length === 0 || ids.includes(id)) &&
      (after === null || id > BigInt(after)) &&
      (last === undefined || id <= BigInt(last)),
  )
}

function versionStep(id: bigint, version: string | undefined): Step {
  return readStep(id, (state) => state !== undefined && versionOf(state) === version)
}
