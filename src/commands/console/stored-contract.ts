import {
  type ContractDocument,
  extendContract,
  loadContract,
  plantMembers,
} from '../../../core/contract/contract.ts'
import type { Member } from '../../../core/members/members.ts'
import type { OwnField } from '../../../core/members/own-fields.ts'
import type { RecordStore } from '../../../service/store/record-store.ts'
import { declaredFields, readStoredFields } from '../../stores/shared/stored-fields.ts'

/** The contract with which a database was last served. */
export interface StoredContract {
  readonly contract: ContractDocument
  /** The own fields of a plant. */
  readonly fields: readonly OwnField[]
  /** All members of a plant. */
  readonly members: readonly Member[]
  /** The names of own fields whose values are stored and not shown. */
  readonly hidden: readonly string[]
}

/** @throws StoreUnavailable */
export async function readStoredContract(
  store: Pick<RecordStore, 'findRecord'>,
): Promise<StoredContract> {
  const stored = await readStoredFields(store)
  const fields = declaredFields(stored)
  const contract = extendContract(loadContract(), fields)
  return { contract, fields, members: plantMembers(contract), hidden: stored.hidden }
}
