import type {
  BatchResult,
  CreateResult,
  ImportResult,
  NewPlant,
  NoMatch,
  OnConflict,
  PlantPatch,
  StoredPlant,
} from '../../../../service/plant-store.ts'
import type { RestrictionResult, RestrictionStep } from '../../../../service/restriction.ts'
import type { StoredToken } from '../../../../service/token-store.ts'
import type { NewWebhook, SavedProgress } from '../../../../service/webhook-store.ts'
import type { Size } from '../../shared/group-commit.ts'
import { measureText, measureTextOfAll } from '../../shared/rows.ts'
import type { ChangeLimits } from '../feed/change-pruner.ts'

type Expected = readonly string[] | undefined

/**
 * Every call that changes the database, as a value that can be sent to the writer's thread. PlantStore, RestrictionStore,
 * TokenStore and WebhookStore specify them.
 */
export type WriteCall =
  | { readonly type: 'create'; readonly plant: NewPlant }
  | { readonly type: 'createAll'; readonly plants: readonly NewPlant[] }
  | { readonly type: 'update'; id: bigint; patch: PlantPatch; expected?: Expected }
  | { readonly type: 'remove'; readonly id: bigint; readonly expected?: Expected }
  | { readonly type: 'import'; plants: readonly NewPlant[]; onConflict: OnConflict }
  | { readonly type: 'restrict'; readonly step: RestrictionStep }
  /** Deletes some of the changes in the feed that exceed its limits. */
  | { readonly type: 'pruneChanges'; readonly limits: ChangeLimits }
  | { readonly type: 'addToken' | 'addFirstToken'; readonly token: StoredToken }
  | { readonly type: 'removeToken'; readonly name: string }
  | { readonly type: 'noteTokenUse'; readonly name: string; readonly at: Date }
  | { readonly type: 'addWebhook'; readonly webhook: NewWebhook }
  | { readonly type: 'removeWebhook'; readonly name: string; readonly owner: string | undefined }
  | { readonly type: 'rotateWebhookSecret'; name: string; secret: string; previousUntil: Date }
  | { readonly type: 'resumeWebhook'; readonly name: string; readonly fromOldest: boolean }
  | { readonly type: 'leaseWebhooks' | 'releaseWebhooks'; readonly owner: string }
  | { readonly type: 'saveWebhookProgress'; owner: string; saved: readonly SavedProgress[] }

/** What each call returns. */
interface WriteResults {
  create: CreateResult
  createAll: BatchResult
  update: StoredPlant | NoMatch
  remove: 'removed' | NoMatch
  import: ImportResult[]
  restrict: RestrictionResult
  pruneChanges: undefined
  addToken: boolean
  addFirstToken: boolean
  removeToken: boolean
  noteTokenUse: undefined
  addWebhook: 'added' | 'taken' | 'full'
  removeWebhook: boolean
  rotateWebhookSecret: boolean
  resumeWebhook: boolean
  leaseWebhooks: string[] | undefined
  releaseWebhooks: undefined
  saveWebhookProgress: string[]
}

type WriteType = WriteCall['type']

export type WriteResult = WriteResults[WriteType]

/** Makes a change, and resolves when it is on disk. */
export type SubmitWrite = <Type extends WriteType>(
  call: WriteCall & { readonly type: Type },
) => Promise<WriteResults[Type]>

/** The memory of a string object, in UTF-16 units. An If-Match header can hold thousands of short strings. */
const STRING_OVERHEAD = 16

/** The size that a call counts toward the limits on waiting changes. */
export function measureCall(call: WriteCall): Size {
  return { changes: countChanges(call), text: measureCallText(call) }
}

/** A batch counts as its number of plants. */
export function countChanges(call: WriteCall): number {
  return call.type === 'createAll' ? call.plants.length : 1
}

/** The text that a call keeps in memory while it waits, in UTF-16 units. */
function measureCallText(call: WriteCall): number {
  switch (call.type) {
    case 'create':
      return measureText(call.plant)
    case 'update':
      return measureText(call.patch) + measureVersions(call.expected)
    case 'remove':
      return measureVersions(call.expected)
    case 'createAll':
    case 'import':
      return measureTextOfAll(call.plants)
    case 'restrict':
      return measureTextOfAll(call.step.stored ?? [])
    default:
      return 0
  }
}

function measureVersions(versions: readonly string[] = []): number {
  return versions.reduce((sum, { length }) => sum + length + STRING_OVERHEAD, 0)
}
