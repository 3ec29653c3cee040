import { changeRecord, type RecordStore } from '../../../service/store/record-store.ts'

/** The value of a record of the kind `setting`. */
export async function readSetting(
  store: Pick<RecordStore, 'findRecord'>,
  key: string,
): Promise<string | undefined> {
  return (await store.findRecord('setting', { key }))?.value
}

/** Replaces the value if it is the expected one. */
export function replaceSetting(
  store: Pick<RecordStore, 'changeRecords'>,
  key: string,
  expected: string | undefined,
  next: string,
): Promise<boolean> {
  return changeRecord(store, { kind: 'setting', key, expected, next })
}
