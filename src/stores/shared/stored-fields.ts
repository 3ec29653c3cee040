import type { FieldSchema, OwnField } from '../../../contract/own-fields.ts'
import type { SettingStore } from '../../../service/setting-store.ts'

/** The own fields for which a database can have values. */
export interface StoredFields {
  /** With definitions that all stored values satisfy. Those that are not hidden are in the order of the contract. */
  readonly fields: readonly OwnField[]
  /** The names of those that the contract last served did not have. Their values are kept and not shown. */
  readonly hidden: readonly string[]
  /** Fields that all values satisfied at a cursor. */
  readonly checked?: { readonly fields: readonly OwnField[]; readonly cursor: string }
}

const SETTING = 'fields'

const NO_FIELDS: StoredFields = { fields: [], hidden: [] }

/** StoredFields as they are stored. */
interface Texts {
  fields: [name: string, schema: FieldSchema][]
  hidden: string[]
  checked?: { fields: [name: string, schema: FieldSchema][]; cursor: string }
}

/** Resolves to the own fields of a database, which is without any if it was never served with some. */
export async function readStoredFields(
  store: Pick<SettingStore, 'readSetting'>,
): Promise<StoredFields> {
  return parseStoredFields(await store.readSetting(SETTING))
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
  store: SettingStore,
  change: (stored: StoredFields) => Promise<StoredFields> | StoredFields,
): Promise<StoredFields> {
  for (;;) {
    const text = await store.readSetting(SETTING)
    const stored = parseStoredFields(text)
    const next = await change(stored)
    const json = storedFieldsJson(next)
    if (json === storedFieldsJson(stored)) return next
    if (await store.replaceSetting(SETTING, text, json)) return next
  }
}

/** Whether fields are the same in every part. */
export function areSameFields(one: readonly OwnField[], other: readonly OwnField[]): boolean {
  return JSON.stringify(toPairs(one)) === JSON.stringify(toPairs(other))
}

function parseStoredFields(text: string | undefined): StoredFields {
  if (text === undefined) return NO_FIELDS
  const { fields, hidden, checked }: Texts = JSON.parse(text)
  return {
    fields: fromPairs(fields),
    hidden,
    ...(checked && { checked: { ...checked, fields: fromPairs(checked.fields) } }),
  }
}

function storedFieldsJson({ fields, hidden, checked }: StoredFields): string {
  return JSON.stringify({
    fields: toPairs(fields),
    hidden,
    checked: checked && { fields: toPairs(checked.fields), cursor: checked.cursor },
  })
}

function toPairs(fields: readonly OwnField[]): Texts['fields'] {
  return fields.map(({ name, schema }) => [name, schema])
}

function fromPairs(pairs: Texts['fields']): OwnField[] {
  return pairs.map(([name, schema]) => ({ name, schema }))
}
