import { compareFields, violationFinder } from '../../../core/contract/overlay/field-changes.ts'
import type { OwnField } from '../../../core/members/own-fields.ts'
import { readLatestCursor } from '../../../service/store/change-feed.ts'
import { readFields } from '../../../service/store/plant-content.ts'
import { type CheckResult, fault, ok } from '../../stores/shared/check-result.ts'
import type { Store } from '../../stores/shared/store.ts'
import { StoreError } from '../../stores/shared/store-error.ts'
import { changeStoredFields, readStoredFields } from '../../stores/shared/stored-fields.ts'

/** How many invalid values are listed. */
const LISTED_MAX = 10

/**
 * Verifies that all stored values satisfy the fields of a contract, and yields a result for each field. If they do, the
 * next start of the service with this contract is accepted, even if its fields are narrower than before.
 *
 * @throws StoreError if the result is of no use because plants have changed meanwhile; StoreUnavailable
 */
export async function* checkFields(
  store: Store,
  fields: readonly OwnField[],
): AsyncIterable<CheckResult> {
  // Changes after this cursor may not be in the snapshot of the plants.
  const cursor = await readLatestCursor(store)
  const found = new Map(
    fields.map((field) => [field.name, { plants: 0, findViolation: violationFinder(field) }]),
  )
  let invalid = 0
  for await (const batch of store.exportPlants()) {
    for (const { id, fields: stored = '' } of batch) {
      for (const [name, json] of readFields(stored)) {
        const field = found.get(name)
        if (field === undefined) continue
        field.plants++
        const violation = field.findViolation(json)
        if (violation === undefined) continue
        invalid++
        if (invalid <= LISTED_MAX) {
          yield { subject: 'fields', ...fault(`plant ${id}: ${name} ${violation}`) }
        }
      }
    }
  }
  if (invalid > LISTED_MAX) {
    yield { subject: 'fields', ...fault(`${(invalid - LISTED_MAX).toLocaleString('en')} more`) }
  }
  for (const [name, { plants }] of found) {
    yield { subject: 'fields', ...ok(`plants with ${name}: ${plants.toLocaleString('en')}`) }
  }
  if (invalid > 0) return
  await storeResult(store, fields, cursor)
  yield { subject: 'contract', ...ok('the service can start with it') }
}

/** Lets the service start with narrower fields. Otherwise, there is nothing to store. */
async function storeResult(
  store: Store,
  fields: readonly OwnField[],
  cursor: string,
): Promise<void> {
  const { fields: stored } = await readStoredFields(store)
  if (compareFields(stored, fields).narrowed.length === 0) return
  if (cursor !== (await readLatestCursor(store))) {
    throw new StoreError(
      'plants changed during the check, so it says nothing about the new values: stop or freeze the service, and check again',
    )
  }
  await changeStoredFields(store, (stored) => ({ ...stored, checked: { fields, cursor } }))
}
