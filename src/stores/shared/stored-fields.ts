import type { OwnField } from '../../../core/members/own-fields.ts'
import { changeRecord, type RecordStore } from '../../../service/store/record-store.ts'

/** The own fields for which a database can have values. */
export interface StoredFields {
  /** With definitions that all stored values satisfy. Those that are not hidden are in the order of the contract. */
  readonly fields: readonly OwnField[]
  /** The names of those that the contract last served did not have. Their values are kept and not shown. */
  readonly hidden: readonly string[]
  /** Fields that all values satisfied at a cursor. */
  readonly checked?: { readonly fields: readonly OwnField[]; readonly cursor: string }
}

/** The key of the setting. */
const KEY = 'fields'

const NO_FIELDS: StoredFields = { fields: [], hidden: [] }

/** Resolves to the own fields of a database, which is without any if it was never served with some. */
export async function readStoredFields(
  store: Pick<RecordStore, 'findRecord'>,
): Promise<StoredFields> {
  return parseStoredFields(await readSetting(store))
}

/** The fields of the contract with which a database was last served. */
export function declaredFields({ fields, hidden }: StoredFields): OwnField[] {
  return fields.filter(({ name }) => !hidden.includes(name))
}

/**
 * Stores what `change` makes of the own fields of a database, unless that changes nothing. If another process is faster,
 * `change` is called again. Resolves to its result.
 */
export async function changeStoredFields(
  store: Pick<RecordStore, 'findRecord' | 'changeRecords'>,
  change: (stored: StoredFields) => Promise<StoredFields> | StoredFields,
): Promise<StoredFields> {
  for (;;) {
    const before = await readSetting(store)
    const stored = parseStoredFields(before)
    const next = await change(stored)
    const json = storedFieldsJson(next)
    if (json === storedFieldsJson(stored)) return next
    const replacement = { kind: 'setting', key: KEY, expected: before, next: json } as const
    if (await changeRecord(store, replacement)) return next
  }
}

async function readSetting(store: Pick<RecordStore, 'findRecord'>): Promise<string | undefined> {
  return (await store.findRecord('setting', { key: KEY }))?.value
}

function parseStoredFields(json: string | undefined): StoredFields {
  return json === undefined ? NO_FIELDS : JSON.parse(json)
}

/** Fields that are the same have the same JSON, whatever the order in which they were put together. */
function storedFieldsJson({ fields, hidden, checked }: StoredFields): string {
  return JSON.stringify({ fields, hidden, checked })
}
