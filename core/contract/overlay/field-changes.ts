import { prepareParser } from '../../json/exact-json.ts'
import { known, propertiesOf } from '../../known.ts'
import type { FieldSchema, OwnField } from '../../members/own-fields.ts'
import { fieldValidator } from '../validators.ts'

/** How the own fields of a contract differ from those that a database was last served with. */
export interface FieldChanges {
  readonly added: readonly OwnField[]
  /**
   * Those for which a value that was valid could be invalid or have another text, each with the first reason, such as
   * `its maximum was 500 and is 300`.
   */
  readonly narrowed: readonly { readonly name: string; readonly reason: string }[]
  /** As they were stored. */
  readonly gone: readonly OwnField[]
}

/**
 * Compares the fields that a database was last served with to those that the contract declares now. Titles, descriptions,
 * examples and the order of the fields make no difference.
 */
export function compareFields(
  stored: readonly OwnField[],
  declared: readonly OwnField[],
): FieldChanges {
  const before = new Map(stored.map(({ name, schema }) => [name, schema]))
  const names = new Set(declared.map(({ name }) => name))
  const added: OwnField[] = []
  const narrowed: { name: string; reason: string }[] = []
  for (const field of declared) {
    const { name, schema } = field
    const previous = before.get(name)
    if (previous === undefined) {
      added.push(field)
      continue
    }
    const reason = findNarrowing(previous, schema)
    if (reason !== undefined) narrowed.push({ name, reason })
  }
  return { added, narrowed, gone: stored.filter(({ name }) => !names.has(name)) }
}

/**
 * Prepares to check the stored values of a field.
 *
 * @returns a function that returns what a value, as its JSON text, must be instead, such as `must be an int32`; undefined
 *   if it is valid. It throws InvalidJson if the text is not JSON
 */
export function violationFinder({ schema }: OwnField): (text: string) => string | undefined {
  const parse = prepareParser([{ name: 'value', type: schema.type }])
  const describe = fieldValidator(schema)
  return (text) => {
    const { value } = propertiesOf(parse(Buffer.from(`{"value":${text}}`)))
    return describe(value)
  }
}

/** Why some values of a field are no longer valid or would have another text; undefined if there are none. */
function findNarrowing(before: FieldSchema, after: FieldSchema): string | undefined {
  if (!canHold(typeOf(after), typeOf(before)))
    return `its type was ${typeOf(before)} and is ${typeOf(after)}`
  const values = before.enum
  if (values !== undefined) return findInvalid(values, after)
  if (after.enum !== undefined) return 'it had no enum and has one'
  const hasFormat = after.type === 'string' && after.format !== undefined
  if (hasFormat && after.format !== before.format) return differs('format', before, after)
  const [was, is] = [limitsOf(before), limitsOf(after)]
  for (const keyword of ['minLength', 'minimum'] as const)
    if (is[keyword] > was[keyword]) return differs(keyword, before, after)
  for (const keyword of ['maxLength', 'maximum'] as const)
    if (is[keyword] < was[keyword]) return differs(keyword, before, after)
  return undefined
}

/** The limits of a field, including those that its type implies. */
function limitsOf({ format, minLength, maxLength, minimum, maximum }: FieldSchema) {
  const isInt32 = format === 'int32'
  return {
    minLength: minLength ?? 0,
    maxLength: maxLength ?? Number.POSITIVE_INFINITY,
    minimum: minimum ?? (isInt32 ? -(2 ** 31) : Number.NEGATIVE_INFINITY),
    maximum: maximum ?? (isInt32 ? 2 ** 31 - 1 : Number.POSITIVE_INFINITY),
  }
}

/** The type by which values are stored: that of an integer is its format. */
function typeOf({ type, format }: FieldSchema): string {
  return type === 'integer' ? known(format) : type
}

/** Whether values of one type are values of another, and have the same text. An int64 can have too many digits. */
function canHold(type: string, other: string): boolean {
  return type === other || (other === 'int32' && (type === 'int64' || type === 'number'))
}

/** Why one of a field's only values is no longer valid. */
function findInvalid(values: readonly string[], schema: FieldSchema): string | undefined {
  const describe = fieldValidator(schema)
  for (const value of values) {
    const violation = describe(value)
    if (violation !== undefined) return `${JSON.stringify(value)} is no longer valid: ${violation}`
  }
  return undefined
}

function differs(keyword: keyof FieldSchema, before: FieldSchema, after: FieldSchema): string {
  const [was, is] = [before, after].map(({ [keyword]: value }) => value ?? 'not set')
  return `its ${keyword} was ${was} and is ${is}`
}
