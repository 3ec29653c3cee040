/** Judges each value that runs and undos write, and what they report. */
import { ok } from 'node:assert/strict'
import type { Plant } from '../../../../client/client.ts'
import { members } from '../../../../core/members/members.gen.ts'
import { describePlants } from '../../../../core/members/plant.ts'
import type { Intent } from '../../../../page/changes/intent.ts'
import type { Schedule } from '../../../interleavings/schedules.ts'
import type { Write } from './shared-service.ts'

const { hasSameContent } = describePlants(members)

const MEMBERS = ['name', 'tag'] as const

type Member = (typeof MEMBERS)[number]

/** What a run reports. */
export interface Report {
  /** How many plants it counts, of each kind. */
  readonly counted: number
  readonly refused: ReadonlySet<bigint>
  /** How many additions it does not take back. */
  readonly unknown: number
}

/** What a run may do: its intents, or the reverse of what another run has written. */
type Permission = readonly Intent[] | { readonly undoes: string }

export class Judge {
  readonly #schedule: Schedule
  readonly #permissions = new Map<string, Permission>()
  readonly #writes: Write[] = []

  constructor(schedule: Schedule) {
    this.#schedule = schedule
  }

  permit(author: string, permission: Permission): void {
    this.#permissions.set(author, permission)
  }

  /** Checks that a write changes only what it may, and only what its author has seen. */
  see(write: Write): void {
    const { author, id, stored, next } = write
    const permission = this.#permissions.get(author)
    if (permission !== undefined) {
      const steps = this.#steps(permission, id)
      const what = `${author} makes ${show(next)} of ${show(stored)}, plant ${id}`
      this.#expect(isPermitted(steps, stored, next), what)
    }
    this.#writes.push(write)
  }

  /** What a run may make of a plant, and of what. */
  #steps(permission: Permission, id: bigint): readonly Pick<Write, 'stored' | 'next'>[] {
    if ('undoes' in permission) {
      const done = this.#writes.filter((each) => each.author === permission.undoes)
      const ofPlant = done.filter((each) => each.id === id)
      return ofPlant.map(({ stored, next }) => ({ stored: next, next: stored }))
    }
    const intents = permission.filter((intent) => intent.id === id)
    return intents.map(({ before, after }) => ({ stored: before, next: after }))
  }

  /** Checks the report of a run that has reached its end. */
  checkRun(author: string, intents: readonly Intent[], report: Report, isReliable: boolean): void {
    const { counted, refused } = report
    this.#expect(counted + refused.size === intents.length, `${author} counts each plant once`)
    for (const intent of intents) {
      const { id } = intent
      const isWritten = this.#writes.some((write) => write.author === author && write.id === id)
      if (!refused.has(id)) {
        this.#expect(isWritten || this.#wasDone(intent), `${author} has changed plant ${id}`)
      } else if (isReliable) {
        this.#expect(!isWritten, `${author} has not changed plant ${id}, as it says`)
      }
    }
  }

  /** Whether somebody else has done what a run was to do. */
  #wasDone({ id, before, after }: Intent): boolean {
    const states = this.#writes.filter((write) => write.id === id).map(({ next }) => next)
    return states.some((state) => {
      if (state === undefined || after === undefined) return state === after
      const edited = MEMBERS.filter((name) => before?.[name] !== after[name])
      return edited.every((name) => state[name] === after[name])
    })
  }

  /** Checks that an undo has left nothing of a run, unless it was refused or is unknown. */
  checkUndo(author: string, unknown: number, refused: ReadonlySet<bigint>): void {
    let left = 0
    for (const id of new Set(this.#writes.map((write) => write.id))) {
      const members = this.#authors(id)
      if (refused.has(id) || !members.has(author)) continue
      const own = this.#writes.filter((write) => write.author === author && write.id === id)
      const isAddition = own.some(({ stored }) => stored === undefined)
      if (isAddition) left += 1
      else this.#expect(false, `the undo has forgotten plant ${id} of ${author}`)
    }
    this.#expect(left <= unknown, `${left} additions of ${author} are left, ${unknown} are unknown`)
  }

  /** Who has written the values that a plant has, or deleted it. */
  #authors(id: bigint): ReadonlySet<string> {
    const authors = new Map<Member, string>()
    for (const { author, stored, next } of this.#writes.filter((write) => write.id === id)) {
      for (const name of MEMBERS) {
        const isWhole = stored === undefined || next === undefined
        if (isWhole || stored[name] !== next[name]) authors.set(name, author)
      }
    }
    return new Set(authors.values())
  }

  #expect(isMet: boolean, message: string): void {
    this.#schedule.expect(isMet, true, message)
  }
}

function isPermitted(
  steps: readonly Pick<Write, 'stored' | 'next'>[],
  stored: Plant | undefined,
  next: Plant | undefined,
): boolean {
  if (stored === undefined || next === undefined) {
    return steps.some(
      (step) => hasSameContent(step.stored, stored) && hasSameContent(step.next, next),
    )
  }
  const changed = MEMBERS.filter((name) => stored[name] !== next[name])
  return changed.every((name) =>
    steps.some(
      (step) =>
        step.stored !== undefined &&
        step.next !== undefined &&
        step.stored[name] === stored[name] &&
        step.next[name] === next[name],
    ),
  )
}

function show(plant: Plant | undefined): string {
  return plant === undefined ? 'nothing' : `(${plant.name}, ${plant.tag})`
}

/** Fails a test whose scenario never does what it is for. */
export function checkReached(counts: { readonly [what: string]: number }): void {
  for (const [what, count] of Object.entries(counts)) ok(count > 0, `no scenario has ${what}`)
}
