/** Long histories of contending clients on one plant, as a register answers them. Many responses are lost. */

import { contentVersion } from '../../../../service/store/content-version.ts'
import type { Plant } from '../../../../service/store/plant-store.ts'
import { Random } from '../../../hostile/fuzz/random.ts'
import type { Call } from '../../history.ts'
import { GENERA, newTag } from '../../operations/plants.ts'
import { creating, removing, type State, updating } from '../../operations/register.ts'
import { creates, ID, reads, removes, replaces, type Span, updates } from '../written-histories.ts'

const CLIENTS = 6

/** How long after its call a change whose response is lost can take effect, in calls of one client. */
const LATE_MAX = 50

/** A call before its response is known. */
interface Planned {
  readonly called: number
  readonly takesEffect: number
  readonly ended: number
  readonly isLost: boolean
  /** Takes effect, and returns the call with its response. */
  readonly perform: (state: State) => { readonly next: State; readonly call: Call }
}

export interface Simulation {
  /** Number of calls of all clients. */
  readonly calls: number
  /** How many of them have no response. Half of these take effect, at any time. */
  readonly lost: number
  /** How many names plants can have. By default, each call has its own. */
  readonly names?: number
  /** Before them, late changes take effect or never will. */
  readonly fences?: readonly number[]
}

export function simulated(seed: number, { calls, lost, names, fences = [] }: Simulation): Call[] {
  const random = new Random(seed, 0)
  const planned: Planned[] = []
  for (let client = 0; client < CLIENTS; client++) {
    let now = random.below(1000) / 1000
    for (let number = 0; number < calls / CLIENTS; number++) {
      const called = now
      const ended = called + (1 + random.below(1000)) / 1000
      const isLost = random.below(calls) < lost
      const late = isLost ? random.below(LATE_MAX * 1000) / 1000 : 0
      const wanted = called + late + ((ended - called) * random.below(1000)) / 1000
      const isTooLate = fences.some((fence) => called < fence && fence < wanted) && isLost
      const isNever = isLost && random.oneIn(2)
      const takesEffect = isNever || isTooLate ? Number.POSITIVE_INFINITY : wanted
      const serial = names === undefined ? `${client}.${number}` : String(random.below(names))
      const perform = plan(random, [called, ended], isLost, serial)
      planned.push({ called, takesEffect, ended, isLost, perform })
      now = ended + random.below(100) / 1000
    }
  }
  let state: State
  const made = planned
    .toSorted((one, other) => one.takesEffect - other.takesEffect)
    .flatMap(({ perform, takesEffect }) => {
      const { next, call } = perform(state)
      if (takesEffect !== Number.POSITIVE_INFINITY) state = next
      return [call]
    })
  return made.filter(({ operation, answer }) => operation !== 'get' || answer !== undefined)
}

function plan(random: Random, span: Span, isLost: boolean, serial: string): Planned['perform'] {
  const kind = random.below(10)
  const name = `${random.pick(GENERA)} ${serial}`
  const tag = newTag(random, ID)
  const isConditional = random.oneIn(4)
  const status = (known: number) => (isLost ? undefined : known)
  if (kind < 2) {
    return (state) => {
      const result = creating({ name })(state)
      return { next: result.next, call: creates(span, name, status(result.status)) }
    }
  }
  if (kind < 4) {
    return (state) => {
      const expected = isConditional ? state?.name : undefined
      const version = expected === undefined ? undefined : contentVersion({ name: expected })
      const result = updating({ name, tag: null }, version)(state)
      return { next: result.next, call: replaces(span, name, status(result.status), expected) }
    }
  }
  if (kind < 6) {
    const patch = random.pick([{ name }, { tag }, { name, tag }])
    return (state) => {
      const result = updating(patch)(state)
      const content = isLost ? undefined : result.status === 200 ? result.next : undefined
      return {
        next: result.next,
        call: updates(span, patch, status(result.status), content as Plant | undefined),
      }
    }
  }
  if (kind < 8) {
    return (state) => {
      const result = removing()(state)
      return { next: result.next, call: removes(span, status(result.status)) }
    }
  }
  return (state) => {
    const call = reads(span, state)
    if (isLost) delete call.answer
    return { next: state, call }
  }
}
