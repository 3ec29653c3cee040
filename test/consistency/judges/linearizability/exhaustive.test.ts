/** The search, which leaves out what cannot matter, agrees with one that tries every order. */
import { randomInt } from 'node:crypto'
import t from 'tap'
import { runs } from '../../../helpers/plants/runs.ts'
import { Random } from '../../../hostile/fuzz/random.ts'
import type { Call } from '../../history.ts'
import { IMPOSSIBLE, keyOf, type State } from '../../operations/register.ts'
import { type Action, timelinesOf } from '../timelines.ts'
import { fence, ID } from '../written-histories.ts'
import { judgePlant } from './linearizability.ts'
import { simulated } from './simulated-histories.ts'

const HISTORIES = runs(1000)
const FENCE = 1.5

/** Whether an order of the actions is possible. Those that are open can be left out. */
function hasOrder(actions: readonly Action[], fences: readonly number[]): boolean {
  const seen = new Set<string>()
  const lastMoment = ({ call, isOpen }: Action) =>
    isOpen
      ? (fences.find((each) => each > call.called) ?? Number.POSITIVE_INFINITY)
      : (call.ended as number)
  const tryAll = (state: State, left: readonly Action[]): boolean => {
    const necessary = left.filter(({ isOpen }) => !isOpen)
    if (necessary.length === 0) return true
    const key = `${keyOf(state)} ${left.map((each) => actions.indexOf(each))}`
    if (seen.has(key)) return false
    seen.add(key)
    const end = Math.min(...necessary.map(lastMoment))
    return left.some((action) => {
      if (action.call.called > end) return false
      const next = action.step.apply(state)
      // After a call that follows a fence, no open change of before the fence takes effect.
      const rest = left.filter((each) => each !== action)
      const possible = rest.filter((each) => !each.isOpen || lastMoment(each) > action.call.called)
      return next !== IMPOSSIBLE && tryAll(next, possible)
    })
  }
  return tryAll(undefined, actions)
}

/** Leaves out a call, or gives it the response of another one of its operation. */
function withFault(calls: readonly Call[], random: Random): Call[] {
  const answered = calls.filter(({ answer }) => answer !== undefined)
  const one = random.pick(answered)
  if (random.oneIn(2)) return calls.filter((call) => call !== one)
  const other = random.pick(answered.filter(({ operation }) => operation === one.operation))
  return calls.map((call) =>
    call === one && other.answer ? { ...call, answer: other.answer } : call,
  )
}

t.test('a search agrees with one that tries every order', async (t) => {
  const found = { linearizable: 0, violated: 0, undecided: 0 }
  const first = randomInt(2 ** 31)
  for (let seed = first; seed < first + HISTORIES; seed++) {
    const random = new Random(seed, 1)
    const fences = random.oneIn(2) ? [FENCE] : []
    const calls = simulated(seed, {
      calls: 18,
      lost: random.below(9),
      names: 1 + random.below(12),
      fences,
    })
    const judged = random.oneIn(3) ? calls : withFault(calls, random)
    const { actions, impossible } = timelinesOf({ calls: judged })
    if (impossible.length > 0) continue
    const { is } = judgePlant(ID, actions.get(ID) ?? [], fences.map(fence))
    found[is] += 1
    const expected = hasOrder(actions.get(ID) ?? [], fences) ? 'linearizable' : 'violated'
    if (is !== expected) t.equal(is, expected, `seed ${seed}`)
  }
  t.equal(found.undecided, 0)
  t.ok(found.linearizable > HISTORIES / 4 && found.violated > HISTORIES / 40, JSON.stringify(found))
})
