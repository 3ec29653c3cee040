/** The operations that change plants. */
import { parseJson, toJson } from '../../../client/json.ts'
import type { Call, ListedPlant } from '../history.ts'
import type { Operation } from './operation.ts'
import { heightOf, newContent, newLight, newTag, PLANTS } from './plants.ts'
import {
  type Content,
  changeStep,
  contentOf,
  creating,
  exactReadStep,
  IMPOSSIBLE,
  isSame,
  type Patch,
  readStep,
  removing,
  replacementOf,
  type Step,
  updating,
} from './register.ts'

const BATCH_MAX = 3

export const create: Operation = {
  plan: (random, knowledge) => {
    const id = random.pick(PLANTS)
    const known = knowledge.seen.get(id)
    // Repeating what is stored is a replay.
    const content =
      known !== undefined && random.oneIn(4) ? known : newContent(random, id, knowledge)
    return { plants: [{ id, ...content }] }
  },
  request: ({ plants = [] }) => ({ method: 'POST', path: '/plants', body: toJson(plants[0]) }),
  steps: ({ arguments: { plants = [] }, answer }) =>
    plants.map((plant) => creationStep(plant, answer?.status)),
}

export const createBatch: Operation = {
  plan: (random, knowledge) => {
    const ids = random.shuffled(PLANTS).slice(0, 2 + random.below(BATCH_MAX - 1))
    return { plants: ids.map((id) => ({ id, ...newContent(random, id, knowledge) })) }
  },
  request: ({ plants }) => ({ method: 'POST', path: '/plants/batch', body: toJson(plants) }),
  steps: ({ arguments: { plants = [] }, answer }) => {
    if (answer?.status === 200) return batchSteps(plants, answer.body)
    if (answer?.status !== 409) return plants.map((plant) => creationStep(plant, answer?.status))
    const [, index] = /body\/(\d+): /.exec(answer.body) ?? []
    const conflict = plants[Number(index)]
    if (conflict === undefined) throw new Error(`no plant of the batch conflicts: ${answer.body}`)
    return [creationStep(conflict, 409)]
  },
}

export const replace: Operation = {
  plan: (random, knowledge) => {
    const id = random.pick(PLANTS)
    const known = knowledge.seen.get(id)
    const content =
      known !== undefined && random.oneIn(8) ? known : newContent(random, id, knowledge)
    return { id, content, ...versionFor(random.oneIn(3), knowledge.versions.get(id)) }
  },
  request: ({ id, content, version }) => ({
    method: 'PUT',
    path: `/plants/${id}`,
    body: toJson(content),
    ...(version !== undefined && { ifMatch: version }),
  }),
  steps: (call) => updateSteps(call, replacementOf(call.arguments.content ?? {})),
}

export const update: Operation = {
  plan: (random, knowledge) => {
    const id = random.pick(PLANTS)
    const { name } = newContent(random, id, knowledge)
    const own = knowledge.hasFields ? { height: heightOf(name) } : {}
    const tag = newTag(random, id)
    const patches: Patch[] = [{ name, ...own }, { tag }, { name, tag, ...own }]
    if (knowledge.hasFields) patches.push({ light: newLight(random) })
    const patch = random.pick(patches)
    return { id, patch, ...versionFor(random.oneIn(3), knowledge.versions.get(id)) }
  },
  request: ({ id, patch, version }) => ({
    method: 'PATCH',
    type: 'application/merge-patch+json',
    path: `/plants/${id}`,
    body: toJson(patch),
    ...(version !== undefined && { ifMatch: version }),
  }),
  steps: (call) => updateSteps(call, call.arguments.patch ?? {}),
}

export const remove: Operation = {
  plan: (random, { versions }) => {
    const id = random.pick(PLANTS)
    return { id, ...versionFor(random.oneIn(3), versions.get(id)) }
  },
  request: ({ id, version }) => ({
    method: 'DELETE',
    path: `/plants/${id}`,
    ...(version !== undefined && { ifMatch: version }),
  }),
  steps: ({ arguments: { id = 0n, version }, answer }) => [
    {
      ...changeStep(id, removing(version), answer?.status),
      ...(answer?.status === 404 && { accepted: [undefined] }),
      writes: { name: undefined },
    },
  ],
}

export function creationStep(plant: ListedPlant, status: number | undefined): Step {
  const content = contentOf(plant)
  if (status === 409) {
    return readStep(plant.id, (state) => state !== undefined && !isSame(state, content))
  }
  return {
    ...changeStep(plant.id, creating(content), status),
    ...(status === 200 && { accepted: [undefined, plant.name], shows: content }),
    writes: { name: plant.name },
  }
}

/** Without replays, each plant was missing; without creates, each was stored already. */
function batchSteps(plants: readonly ListedPlant[], body: string): Step[] {
  const { created, replayed } = JSON.parse(body) as { created: number; replayed: number }
  if (created + replayed !== plants.length) throw new Error(`${body} for ${plants.length} plants`)
  return plants.map((plant) => {
    if (created === 0) return exactReadStep(plant.id, contentOf(plant))
    const step = creationStep(plant, 200)
    if (replayed > 0) return step
    const apply: Step['apply'] = (state) => (state === undefined ? contentOf(plant) : IMPOSSIBLE)
    return { ...step, apply, accepted: [undefined] }
  })
}

function updateSteps({ arguments: { id = 0n, version }, answer }: Call, patch: Patch): Step[] {
  const stored = answer?.status === 200 ? contentOf(parseJson(answer.body) as Content) : undefined
  return [
    {
      ...changeStep(id, updating(patch, version), answer?.status, stored),
      ...(answer?.status === 404 && { accepted: [undefined] }),
      ...(patch.name !== undefined && { writes: { name: patch.name } }),
    },
  ]
}

function versionFor(
  isConditional: boolean,
  version: string | undefined,
): Pick<Call['arguments'], 'version'> {
  return isConditional && version !== undefined ? { version } : {}
}
