import type { Restriction } from '../../../../service/restriction.ts'
import type {
  ChangeOf,
  ChangeOutcome,
  ListResult,
  PlantChange,
} from '../../../../service/store/plant-store.ts'
import type { ApplyMode, Guard, RecordChange } from '../../../../service/store/record-store.ts'
import type { Postponed, Size } from '../../shared/group-commit.ts'
import {
  type ChangeList,
  countListed,
  measureChange,
  measureList,
} from '../../shared/plant-change.ts'
import type { ChangeLimits } from '../feed/change-pruner.ts'

/**
 * Every call that changes the database, as a value that can be sent to the writer's thread. PlantStore and RecordStore
 * specify them.
 */
export type WriteCall =
  | PlantChange
  | ({ readonly type: 'apply' } & ChangeList)
  /** Deletes some of the changes in the feed that exceed its limits. */
  | { readonly type: 'pruneChanges'; readonly limits: ChangeLimits }
  | { readonly type: 'indexPlants' }
  | { readonly type: 'reset'; readonly plants: readonly ChangeOf<'create'>[] }
  | { readonly type: 'changeRecords'; changes: readonly RecordChange[]; mode: ApplyMode }

/** What each call returns that is not a single change. */
interface WriteResults {
  apply: ListResult<ApplyMode | Guard>
  pruneChanges: boolean
  indexPlants: boolean
  reset: 'created'
  changeRecords: boolean[]
}

export type WriteResult = WriteResults[keyof WriteResults] | ChangeOutcome

/** A change to plants that the restriction of the database refuses. */
interface Refused {
  readonly refusedBy: Restriction
}

/** The results of calls that share a transaction. */
export type CommitResult = WriteResult | Postponed | Refused

export function isRefused(result: CommitResult): result is Refused {
  return typeof result === 'object' && 'refusedBy' in result
}

/** Makes a change, and resolves when it is on disk. */
export type SubmitWrite = <Type extends keyof WriteResults>(
  call: WriteCall & { readonly type: Type },
) => Promise<WriteResults[Type]>

/** How many changes a call counts as. */
export function countChanges(call: WriteCall): number {
  if (call.type === 'reset') return call.plants.length
  return call.type === 'apply' ? countListed(call) : 1
}

/** The size that a call counts toward the limits on waiting changes. */
export function measureCall(call: WriteCall): Size {
  switch (call.type) {
    case 'apply':
      return measureList(call)
    case 'changeRecords':
    case 'indexPlants':
    case 'pruneChanges':
    case 'reset':
      return { changes: 1, text: 0 }
    default:
      return measureChange(call)
  }
}
