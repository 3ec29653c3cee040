import type {
  ApplyMode,
  CreateResult,
  ListResult,
  NoMatch,
  StoredPlant,
} from '../../../../service/plant-store.ts'
import type {
  GuardedChange,
  GuardedResult,
  RecordChange,
} from '../../../../service/record-store.ts'
import type { Restriction } from '../../../../service/restriction.ts'
import type { Postponed, Size } from '../../shared/group-commit.ts'
import {
  type ChangeList,
  type ChangeOf,
  measureChange,
  measureList,
} from '../../shared/plant-change.ts'
import type { ChangeLimits } from '../feed/change-pruner.ts'

/**
 * Every call that changes the database, as a value that can be sent to the writer's thread. PlantStore, RecordStore
 * and GuardedStore specify them.
 */
export type WriteCall =
  | ChangeOf<'create' | 'update' | 'remove'>
  | ({ readonly type: 'apply' } & ChangeList)
  | { readonly type: 'changeGuarded'; readonly change: GuardedChange }
  /** Deletes some of the changes in the feed that exceed its limits. */
  | { readonly type: 'pruneChanges'; readonly limits: ChangeLimits }
  | { readonly type: 'changeRecords'; changes: readonly RecordChange[]; mode: ApplyMode }

/** What each call returns. */
interface WriteResults {
  create: CreateResult
  update: StoredPlant | NoMatch
  remove: 'removed' | NoMatch
  apply: ListResult
  changeGuarded: GuardedResult
  pruneChanges: boolean
  changeRecords: boolean[]
}

type WriteType = WriteCall['type']

export type WriteResult = WriteResults[WriteType]

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
export type SubmitWrite = <Type extends WriteType>(
  call: WriteCall & { readonly type: Type },
) => Promise<WriteResults[Type]>

/** The size that a call counts toward the limits on waiting changes. */
export function measureCall(call: WriteCall): Size {
  switch (call.type) {
    case 'create':
    case 'update':
    case 'remove':
      return measureChange(call)
    case 'apply':
      return measureList(call)
    case 'changeGuarded':
      // Only one is ever in flight.
      return { ...measureList(call.change), changes: 1 }
    default:
      return { changes: 1, text: 0 }
  }
}
