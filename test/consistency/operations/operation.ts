import type { Random } from '../../hostile/fuzz/random.ts'
import type { Arguments, Call } from '../history.ts'
import type { Content, Step } from './register.ts'

export interface HttpRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: string
  /** By default, application/json. */
  readonly type?: string
  readonly ifMatch?: string
  readonly ifNoneMatch?: string
}

/** What a client knows when it plans a call. */
export interface Knowledge {
  /** Returns a string that no other content of the run has. */
  readonly serial: () => string
  /** The last content that the client saw of each plant. */
  readonly seen: ReadonlyMap<bigint, Content>
  /** The last version that the client saw of each plant. */
  readonly versions: ReadonlyMap<bigint, string>
  /** Whether the contract has own fields. */
  readonly hasFields: boolean
}

export interface Operation {
  /** Makes the same choices for the same numbers, so that a seed repeats the plan of a client. */
  readonly plan: (random: Random, knowledge: Knowledge) => Arguments
  readonly request: (given: Arguments) => HttpRequest
  /**
   * The steps of a call, on the plants of which its response says something. The response of an open change is
   * undefined here. Not called for open reads, nor for calls that were refused.
   *
   * @throws Error if no order of calls explains the response
   */
  readonly steps: (call: Call) => readonly Step[]
}
