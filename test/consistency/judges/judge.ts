/** All judges of a history and its feed. */
import type { History } from '../history.ts'
import { keyOf } from '../operations/register.ts'
import { judgeBatches } from './batches.ts'
import { judgeFeed } from './feed.ts'
import { judgePlant } from './linearizability/linearizability.ts'
import { overlapOf } from './overlap.ts'
import { describe, timelinesOf } from './timelines.ts'

/** The least number of overlapping pairs per plant, on average. Below that, a run proves too little. */
const PAIRS_MIN = 10

export interface Judgement {
  readonly violations: readonly string[]
  /** Overlapping pairs, and outcomes that stayed open, by plant. */
  readonly plants: readonly { readonly id: bigint; readonly pairs: number; readonly open: number }[]
}

export function judge(history: History): Judgement {
  const { actions, impossible } = timelinesOf(history)
  const violations = [...impossible]
  for (const [id, each] of actions) {
    const verdict = judgePlant(id, each, history.marks)
    if (verdict.is === 'linearizable') continue
    const what =
      verdict.is === 'violated' ? 'not linearizable' : 'undecided: the search was given up'
    const states = verdict.states.map((state) => keyOf(state) || 'missing').join(' or ')
    const calls = verdict.actions.map(({ call }) => `  ${describe(call)}`)
    violations.push([`plant ${id} is ${what}; at first it is ${states}`, ...calls].join('\n'))
  }
  violations.push(...judgeBatches(history))
  if (history.feed !== undefined) {
    violations.push(...judgeFeed(history, history.feed.changes, history.feed.stored))
  }
  const plants = [...actions].map(([id, each]) => ({ id, ...overlapOf(each) }))
  const average = plants.reduce((sum, { pairs }) => sum + pairs, 0) / plants.length
  if (average < PAIRS_MIN) {
    violations.push(`only ${average.toFixed(1)} pairs overlapped per plant, not ${PAIRS_MIN}`)
  }
  return { violations, plants }
}
