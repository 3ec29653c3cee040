import type { Plant, StoredPlant } from '../../client/client.ts'
import { compare, replaceMembers } from '../changes/intent.ts'
import {
  blank,
  contentOf,
  findInvalid,
  type Typed,
  textOf,
  typedOf,
  valuesOf,
} from '../forms/typed.ts'
import { contentMembers, hasSameContent } from '../model/current-members.ts'

/**
 * - `editing`: being typed, or waiting to be continued
 * - `sending`: the service has not responded yet
 * - `unsent`: the service could not be reached, or not at the moment
 * - `refused`: it must be changed before it is sent again
 * - `conflict`: somebody else has changed the same, so the person must choose
 */
export type DraftState = 'editing' | 'sending' | 'unsent' | 'refused' | 'conflict'

/** A change that is not saved yet. */
export interface Draft {
  readonly key: number
  /** Whether the plant is to be deleted. */
  readonly isDeletion: boolean
  /** Whether it takes an earlier change back. */
  readonly isUndo?: boolean
  readonly typed: Typed
  /** What the person has seen. Undefined for a plant to add. */
  readonly before: StoredPlant | undefined
  readonly state: DraftState
  /** Whether sending it has failed before. */
  readonly hasFailed: boolean
  /** What prevents it from being saved, in words. */
  readonly problem?: string | undefined
  /** The name of the member that has the problem. Undefined if it is not one of the form's. */
  readonly problemField?: string | undefined
  /** In a conflict, the stored plant. Undefined if there is none. */
  readonly stored?: StoredPlant | undefined
  /** In a conflict, the names of the members that both sides have changed. None if it is about the whole plant. */
  readonly contested?: readonly string[]
}

export const NO_PROBLEM = { problem: undefined, problemField: undefined } as const
export const NO_CONFLICT = { stored: undefined, contested: [] } as const

/** Whether a draft differs from the plant that the person has seen. */
export function isChanged({ typed, before, isDeletion }: Draft): boolean {
  if (isDeletion || findInvalid(typed) !== undefined) return true
  return !hasSameContent(contentOf(typed), before ?? contentOf(blank('')))
}

/** What is to become of the plant. */
export function wantedOf({ isDeletion, typed }: Draft): Plant | undefined {
  return isDeletion ? undefined : contentOf(typed)
}

/** Whether what is stored is what the draft wants: its changes, and whatever others have changed. */
export function isCarriedOut(draft: Draft, stored: Plant | undefined): boolean {
  const { before, typed, isDeletion } = draft
  if (isDeletion || before === undefined || stored === undefined) {
    return hasSameContent(stored, isDeletion ? undefined : valuesOf(typed))
  }
  return compare(before, valuesOf(typed), stored).changed.length === 0
}

/** The changes to a draft whose plant somebody else has changed. */
export function conflictWith(draft: Draft, stored: StoredPlant | undefined): Partial<Draft> {
  const { before, isDeletion, typed, state } = draft
  if (before === undefined || stored === undefined || isDeletion) {
    return { state: 'conflict', stored, contested: [], ...NO_PROBLEM }
  }
  const { edited, contested } = compare(before, valuesOf(typed), stored)
  const mine = edited.map(({ name }) => [name, textOf(typed, name)])
  const merged = {
    typed: { ...typedOf(stored), ...Object.fromEntries(mine) },
    before: { ...replaceMembers(stored, edited, before), id: stored.id },
  }
  if (contested.length > 0) {
    const names = contested.map(({ name }) => name)
    return { ...merged, state: 'conflict', stored, contested: names, ...NO_PROBLEM }
  }
  return { ...merged, ...(state === 'conflict' && { state: 'editing', ...NO_CONFLICT }) }
}

/** The changes to an edit in conflict if the person chooses one of the values of a member. */
export function chooseValue(
  { typed, contested = [] }: Draft,
  before: StoredPlant,
  stored: StoredPlant,
  name: string,
  choice: 'mine' | 'stored',
): Partial<Draft> {
  const chosen = contentMembers.filter((member) => member.name === name)
  const text = textOf(choice === 'mine' ? typed : typedOf(stored), name)
  const rest = contested.filter((each) => each !== name)
  return {
    typed: { ...typed, [name]: text },
    before: { ...replaceMembers(before, chosen, stored), id: stored.id },
    contested: rest,
    ...(rest.length === 0 && { ...NO_CONFLICT, state: 'editing' }),
  }
}
