import type { OwnField } from '../../core/members/own-fields.ts'
import { type ChangeFeed, readLatestCursor } from '../../service/store/change-feed.ts'
import type { RecordStore } from '../../service/store/record-store.ts'
import { StoreError } from '../stores/shared/store-error.ts'
import { changeStoredFields, type StoredFields } from '../stores/shared/stored-fields.ts'

/** The part of a Store that holds fields. */
type FieldStore = Pick<RecordStore, 'findRecord' | 'changeRecords'> & ChangeFeed

/**
 * Makes the fields of a contract those of a database, before anything is served. The fields that only the database has
 * become hidden: their definitions stay stored, because their values do. Processes that already serve the database
 * notice nothing.
 *
 * @param declared undefined without a contract of the operator
 * @param hide whether to hide all fields in that case
 * @returns the names of the hidden fields
 * @throws StoreError if a stored value could be invalid, or would be hidden unintentionally; StoreUnavailable
 */
export async function adoptFields(
  store: FieldStore,
  declared: readonly OwnField[] | undefined,
  { hide }: { readonly hide: boolean },
): Promise<readonly string[]> {
  const { hidden } = await changeStoredFields(store, async (stored) => {
    if (declared === undefined && !hide) requireNone(stored)
    const fields = declared ?? []
    if (stored.fields.length === 0) return { ...stored, fields }
    const { narrowed, gone } = await compare(stored.fields, fields)
    if (narrowed.length > 0 && !(await isChecked(store, stored, fields))) {
      const reasons = narrowed.map(({ name, reason }) => `${name}: ${reason}`).join('; ')
      throw new StoreError(
        `the database can have values that the contract does not allow (${reasons}): stop the service, run plant-store check with this --contract, and start it again`,
      )
    }
    return { ...stored, fields: [...fields, ...gone], hidden: gone.map(({ name }) => name) }
  })
  return hidden
}

/** Imports the comparison late, because the command line loads this file before it needs validators. */
async function compare(stored: readonly OwnField[], declared: readonly OwnField[]) {
  const { compareFields } = await import('../../core/contract/overlay/field-changes.ts')
  return compareFields(stored, declared)
}

function requireNone({ fields }: StoredFields): void {
  if (fields.length === 0) return
  const names = fields.map(({ name }) => name).join(', ')
  throw new StoreError(
    `the database has fields that are not in the contract: ${names}; set --contract, or hide them with --hide-fields`,
  )
}

/** Whether all stored values are known to satisfy the fields: they did once, and no plant has changed since. */
async function isChecked(
  store: ChangeFeed,
  { checked }: StoredFields,
  fields: readonly OwnField[],
): Promise<boolean> {
  if (checked === undefined) return false
  const { added, narrowed } = await compare(checked.fields, fields)
  if (added.length + narrowed.length > 0) return false
  return checked.cursor === (await readLatestCursor(store))
}
