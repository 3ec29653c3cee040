/** What happened to each plant: the steps of all calls, in time. */
import { type Call, type History, isOpen } from '../history.ts'
import { stepsOf } from '../operations/operations.ts'
import { PLANTS } from '../operations/plants.ts'
import type { Step } from '../operations/register.ts'

/** A step of a call on one plant. */
export interface Action {
  readonly call: Call
  readonly step: Step
  readonly isOpen: boolean
}

export interface Timelines {
  readonly actions: ReadonlyMap<bigint, readonly Action[]>
  /** Responses that no order of calls explains. */
  readonly impossible: readonly string[]
}

export function timelinesOf({ calls }: Pick<History, 'calls'>): Timelines {
  const actions = new Map<bigint, Action[]>(PLANTS.map((id) => [id, []]))
  const impossible: string[] = []
  for (const call of calls) {
    try {
      for (const step of stepsOf(call)) {
        actions.get(step.id)?.push({ call, step, isOpen: isOpen(call) })
      }
    } catch (error) {
      impossible.push(`${describe(call)}: ${(error as Error).message}`)
    }
  }
  return { actions, impossible }
}

/** A call in one line. */
export function describe({
  client,
  operation,
  arguments: given,
  called,
  ended,
  answer,
}: Call): string {
  const { id, version, query, ...others } = given
  const what = [
    id,
    version === undefined ? undefined : `if ${shorten(version)}`,
    query,
    ...Object.values(others).map((each) => shorten(text(each))),
  ]
  const times = `${called.toFixed(1)}–${ended?.toFixed(1) ?? ''} ms`
  const response = answer === undefined ? 'no response' : `${answer.status} ${shorten(answer.body)}`
  return `${times} client ${client}: ${operation} ${what.filter((each) => each !== undefined).join(' ')} → ${response}`
}

function text(value: unknown): string {
  return JSON.stringify(value, (_name, each) => (typeof each === 'bigint' ? String(each) : each))
}

/** Long names repeat themselves. */
function shorten(text: string): string {
  return text.replace(/( x){3,}/g, ' x…').slice(0, 500)
}
