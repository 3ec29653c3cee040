/** The operations that change plants. */
import { parseJson, toJson } from '../../../client/json.ts'
import type { Plant, StoredPlant } from '../../../service/plant-store.ts'
import type { Arguments, Call } from '../history.ts'
import type { Operation } from './operation.ts'
import { newContent, newTag, PLANTS } from './plants.ts'
import {
  changeStep,
  contentOf,
  creating,
  exactReadStep,
  IMPOSSIBLE,
  isSame,
  readStep,
  removing,
  type Step,
  updating,
} from './register.ts'

const BATCH_MAX = 3

export const create: Operation = {
  plan: (random, { serial, seen }) => {
    const id = random.pick(PLANTS)
    const known = seen.get(id)
    // Repeating what is stored is a replay.
    const content =
      known !== undefined && random.oneIn(4) ? known : newContent(random, id, serial())
    return { plants: [{ id, ...content }] }
  },
  request: ({ plants = [] }) => ({ method: 'POST', path: '/plants', body: toJson(plants[0]) }),
  steps: ({ arguments: { plants = [] }, answer }) =>
    plants.map((plant) => creationStep(plant, answer?.status)),
}

export const createBatch: Operation = {
  plan: (random, { serial }) => {
    const ids = random.shuffled(PLANTS).slice(0, 2 + random.below(BATCH_MAX - 1))
    return { plants: ids.map((id) => ({ id, ...newContent(random, id, serial()) })) }
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
  plan: (random, { serial, seen, versions }) => {
    const id = random.pick(PLANTS)
    const known = seen.get(id)
    const content =
      known !== undefined && random.oneIn(8) ? known : newContent(random, id, serial())
    return { id, content, ...versionFor(random.oneIn(3), versions.get(id)) }
  },
  request: ({ id, content, version }) => ({
    method: 'PUT',
    path: `/plants/${id}`,
    body: toJson(content),
    ...(version !== undefined && { ifMatch: version }),
  }),
  steps: (call) => {
    const { content: { name, tag = null } = { name: '' } } = call.arguments
    return updateSteps(call, { name, tag })
  },
}

export const update: Operation = {
  plan: (random, { serial, versions }) => {
    const id = random.pick(PLANTS)
    const { name } = newContent(random, id, serial())
    const tag = newTag(random, id)
    const patch = random.pick([{ name }, { tag }, { name, tag }])
    return { id, patch, ...versionFor(random.oneIn(3), versions.get(id)) }
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

export function creationStep(plant: StoredPlant, status: number | undefined): Step {
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
function batchSteps(plants: readonly StoredPlant[], body: string): Step[] {
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

function updateSteps(
  { arguments: { id = 0n, version }, answer }: Call,
  patch: NonNullable<Arguments['patch']>,
): Step[] {
  const stored = answer?.status === 200 ? contentOf(parseJson(answer.body) as Plant) : undefined
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
): Pick<Arguments, 'version'> {
  return isConditional && version !== undefined ? { version } : {}
}
