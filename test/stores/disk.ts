/** A writer whose commits the test ends, and the states of the changes that wait for it. */

import type { PlantPatch } from '../../service/store/plant-store.ts'
import { GroupCommit } from '../../src/stores/shared/group-commit.ts'
import {
  measureCall,
  type WriteCall,
  type WriteResult,
} from '../../src/stores/sqlite/writer/write-call.ts'
import { each } from '../helpers/plants/lists.ts'

export type Changes = GroupCommit<WriteCall, WriteResult>

/** A disk on which each commit waits until the test ends it. */
export class Disk {
  readonly commits: { changes: readonly WriteCall[]; end: PromiseWithResolvers<void> }[] = []
  #started = Promise.withResolvers<void>()

  commit = async (changes: readonly WriteCall[]): Promise<WriteResult[]> => {
    const end = Promise.withResolvers<void>()
    this.commits.push({ changes, end })
    this.#started.resolve()
    await end.promise
    return changes.map((call) =>
      call.type === 'changeRecords' ? call.changes[0]?.key : call.type,
    ) as WriteResult[]
  }

  /** Resolves to a commit, numbered from 0, when it has begun. */
  async begun(number: number) {
    while (this.commits.length <= number) {
      await this.#started.promise
      this.#started = Promise.withResolvers()
    }
    return this.commits[number] as (typeof this.commits)[number]
  }

  /** Ends all commits, including later ones, until no change is waiting. */
  async endAll(changes: Changes): Promise<void> {
    let settled = false
    const done = changes.settle().then(() => {
      settled = true
    })
    for (let number = 0; !settled; number++) {
      const next = await Promise.race([this.begun(number), done])
      next?.end.resolve()
    }
  }
}

export function groupCommit({ commit }: Disk): Changes {
  return new GroupCommit({ commit, sizeOf: measureCall })
}

/** The state of a change: `waiting`, its result or its error. */
export interface Watched {
  state: string
}

export function watch(result: Promise<unknown>): Watched {
  const watched = { state: 'waiting' }
  result.then(
    (value) => {
      watched.state = String(value)
    },
    (error) => {
      watched.state = String(error)
    },
  )
  return watched
}

export function stateOf({ state }: Watched): string {
  return state
}

/** Waits for everything that can happen without the disk. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate)
}

/** A change without text, whose result is its name. */
export function removal(name: string): WriteCall {
  const change = { kind: 'token', key: name, expected: '', next: undefined } as const
  return { type: 'changeRecords', changes: [change], mode: 'each' }
}

export function creation(name: string, tag?: string): WriteCall {
  return { type: 'create', id: 1n, name, ...(tag !== undefined && { tag }) }
}

export function update(patch: PlantPatch, expected?: readonly string[]): WriteCall {
  return { type: 'update', id: 1n, patch, expected }
}

/** A list whose text is all in its first plant. */
export function list(size: number, text: string): WriteCall {
  const plants = Array.from({ length: size }, (_, index) => ({
    id: BigInt(index),
    name: index === 0 ? text : '',
    tag: index === 0 ? text : '',
  }))
  return { type: 'apply', changes: each('create', plants), mode: 'all-or-none' }
}
