/** Lists of changes, which take effect together or not at all. */
import { toJson } from '../../../client/json.ts'
import type { Random } from '../../hostile/fuzz/random.ts'
import type { ListedChange } from '../history.ts'
import { creationStep } from './changes.ts'
import type { Knowledge, Operation } from './operation.ts'
import { newContent, newLight, newTag, PLANTS } from './plants.ts'
import {
  type Change,
  changeStep,
  contentOf,
  IMPOSSIBLE,
  type Patch,
  removing,
  replacementOf,
  type Step,
  updating,
} from './register.ts'

const CHANGES_MAX = 4

const OPS = ['create', 'replace', 'update', 'remove'] as const

/** The number of changes by their effect. */
type Counts = { readonly [effect in 'created' | 'changed' | 'removed' | 'unchanged']: number }

export const changeList: Operation = {
  plan: (random, knowledge) => {
    const ids = random.shuffled(PLANTS).slice(0, 2 + random.below(CHANGES_MAX - 1))
    return { changes: ids.map((id) => planChange(random, id, knowledge)) }
  },
  request: ({ changes = [] }) => ({
    method: 'PATCH',
    path: '/plants',
    body: toJson(
      changes.map(({ version, ...change }) => ({
        ...change,
        ...(version !== undefined && { ifMatch: `"${version}"` }),
      })),
    ),
  }),
  steps: ({ arguments: { changes = [] }, answer }) => {
    if (answer === undefined) return changes.map((change) => stepOf(change, undefined))
    if (answer.status === 200) return doneSteps(changes, JSON.parse(answer.body))
    const [, index] = /body\/(\d+): /.exec(answer.body) ?? []
    const refused = changes[Number(index)]
    if (refused === undefined) throw new Error(`no change of the list is refused: ${answer.body}`)
    return [stepOf(refused, answer.status)]
  },
}

function planChange(random: Random, id: bigint, knowledge: Knowledge): ListedChange {
  const { seen, versions, hasFields } = knowledge
  const op = random.pick(OPS)
  const content = newContent(random, id, knowledge)
  if (op === 'create') {
    // Repeating what is stored is a replay.
    return { op, id, ...(random.oneIn(4) ? (seen.get(id) ?? content) : content) }
  }
  const version = random.oneIn(6) ? versions.get(id) : undefined
  const change = { op, id, ...(version !== undefined && { version }) }
  if (op === 'replace') return { ...change, ...content }
  if (op === 'remove') return change
  const isOwn = hasFields && random.oneIn(2)
  return { ...change, ...(isOwn ? { light: newLight(random) } : { tag: newTag(random, id) }) }
}

/** If as many plants were created or removed as could be, or none, each of them was missing or stored before. */
function doneSteps(changes: readonly ListedChange[], counts: Counts): Step[] {
  const { created, changed, removed, unchanged } = counts
  if (created + changed + removed + unchanged !== changes.length) {
    throw new Error(`${JSON.stringify(counts)} for ${changes.length} changes`)
  }
  return changes.map((change) => {
    const step = stepOf(change, 200)
    if (change.op !== 'create' && change.op !== 'remove') return step
    const effective = change.op === 'create' ? created : removed
    const all = changes.filter(({ op }) => op === change.op).length
    if (effective > 0 && effective < all) return { ...step, isUncertain: true }
    const wasStored = (change.op === 'remove') === effective > 0
    const apply: Step['apply'] = (state) =>
      (state !== undefined) === wasStored ? step.apply(state) : IMPOSSIBLE
    const isRead = effective === 0
    return { ...step, isRead, apply, ...(!wasStored && { accepted: [undefined] }) }
  })
}

/** @param status of the list if it was applied, or of the change that was refused; undefined if the list is open */
function stepOf(change: ListedChange, status: number | undefined): Step {
  const { op, id, name = '' } = change
  if (op === 'create') return creationStep({ id, ...contentOf(change) }, status)
  const step = {
    ...changeStep(id, changeOf(change), status),
    ...(status === 404 && { accepted: [undefined] }),
  }
  if (op === 'update') return step
  return { ...step, writes: { name: op === 'remove' ? undefined : name } }
}

/** A change as a list makes it, with the status of a list that is applied. */
function changeOf({ op, id: _, version, ...patch }: ListedChange): Change {
  if (op === 'replace') return updating(replacementOf(patch), version)
  if (op === 'update') return updating(patch satisfies Patch, version)
  return (state) => {
    if (state === undefined && version === undefined) return { status: 200, next: state }
    const { status, next } = removing(version)(state)
    return { status: status === 204 ? 200 : status, next }
  }
}
