import { CHANGE_NAMES } from '../../json/known-members.ts'
import { keysOf } from '../../known.ts'
import { members } from '../../members/members.gen.ts'
import type { FieldSchema, OwnField } from '../../members/own-fields.ts'
import { TEXT_FORMATS } from '../../members/text-formats.ts'
import { isStorable, listAlternatives } from '../../members/value-rules.ts'
import { fieldValidator } from '../validators.ts'

/** The schema of an own field is invalid or unsupported. The message has the place and the reason. */
export class FieldError extends Error {
  /** Where in the document, such as `actions/0/update/properties/height/type`; empty for the document itself. */
  readonly place: string
  readonly reason: string

  constructor(place: string, reason: string) {
    super(place === '' ? reason : `${place}: ${reason}`)
    this.place = place
    this.reason = reason
  }
}

/** The keywords of every field. */
const COMMON = ['type', 'title', 'description', 'examples', 'x-sortable'] as const

/** The further keywords of each type. */
const KEYWORDS: Readonly<Record<FieldSchema['type'], readonly (keyof FieldSchema)[]>> = {
  string: ['format', 'minLength', 'maxLength', 'enum'],
  integer: ['format', 'minimum', 'maximum'],
  number: ['minimum', 'maximum'],
  boolean: [],
}

/** In code points. */
const NAME_LENGTH_MAX = 100

/** How much of an invalid name a message quotes. */
const QUOTED_LENGTH_MAX = 50

/**
 * Names that no field can have: those of other members, and `__proto__`, which Ajv and many programs in JavaScript ignore
 * or take for the prototype.
 */
const RESERVED: ReadonlySet<string> = new Set([
  ...members.map(({ name }) => name),
  ...CHANGE_NAMES,
  '__proto__',
])

const INT32_MAX = 2 ** 31 - 1

/** A schema whose keywords are being checked. */
type Unchecked = { readonly [Keyword in keyof FieldSchema]?: unknown }

/**
 * Checks the name and the schema of an own field.
 *
 * @param place where the schemas of the fields are, such as `actions/0/update/properties`
 * @throws FieldError naming the first problem
 */
export function readFieldSchema(place: string, name: string, schema: unknown): OwnField {
  checkName(place, name)
  const own = childPlace(place, name)
  if (!isObject(schema)) throw new FieldError(own, 'must be a schema')
  checkKeywords(own, schema)
  const { title, description } = schema
  checkText(childPlace(own, 'title'), title)
  checkText(childPlace(own, 'description'), description)
  checkSortable(own, name, schema['x-sortable'])
  if (schema.type === 'string') checkStrings(own, schema)
  else if (schema.type !== 'boolean') checkNumbers(own, schema)
  checkExamples(own, schema)
  return { name, schema: { ...schema } as unknown as FieldSchema }
}

/** @throws FieldError unless a member is, or is not, one by which plants are sorted */
function checkSortable(place: string, name: string, isSortable: unknown): void {
  const own = childPlace(place, 'x-sortable')
  if (isSortable !== undefined && typeof isSortable !== 'boolean')
    throw new FieldError(own, 'must be true or false')
  if (isSortable && name.startsWith('-'))
    throw new FieldError(
      own,
      'must not be true for a name that begins with -, which reverses the order',
    )
}

/** The members of the contract of which an overlay can change nothing but the keyword `x-sortable`. */
export const SORTABLE: readonly string[] = members
  .map(({ name }) => name)
  .filter((name) => name !== 'id')

/**
 * Checks the schema that an overlay gives to a member of the contract. Returns whether it makes the member sortable.
 *
 * @throws FieldError naming the first problem
 */
export function readSortable(place: string, name: string, schema: unknown): boolean {
  const own = childPlace(place, name)
  if (!isObject(schema)) throw new FieldError(own, 'must be a schema')
  const other = Object.keys(schema).find((keyword) => keyword !== 'x-sortable')
  if (other !== undefined)
    throw new FieldError(childPlace(own, other), `not supported: ${name} can only have x-sortable`)
  checkSortable(own, name, schema['x-sortable'])
  return schema['x-sortable'] === true
}

/** The place of a member of an object: that of the object, with a token of JSON Pointer (RFC 6901). */
export function childPlace(place: string, name: string): string {
  return `${place}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function checkName(place: string, name: string): void {
  const { length } = [...name]
  if (length === 0 || length > NAME_LENGTH_MAX || /\p{Cc}/u.test(name) || !name.isWellFormed()) {
    const quoted = JSON.stringify(name.slice(0, QUOTED_LENGTH_MAX))
    throw new FieldError(
      place,
      `${quoted} is not a name: it must have 1 to ${NAME_LENGTH_MAX} characters, without control characters and lone surrogates`,
    )
  }
  // With such a name in `properties`, tools take those for a schema with a keyword such as `$ref` or `$id`.
  const isKeyword = name.startsWith('$')
  if (isKeyword || RESERVED.has(name))
    throw new FieldError(childPlace(place, name), 'this name is reserved')
}

/** Checks the type, and that it can have all of the keywords. */
function checkKeywords(place: string, schema: Unchecked): void {
  const type = checkAlternative(childPlace(place, 'type'), schema.type, keysOf(KEYWORDS))
  const supported: readonly string[] = [...COMMON, ...KEYWORDS[type]]
  for (const keyword of Object.keys(schema)) {
    if (supported.includes(keyword)) continue
    const reason = `not supported: a field of the type ${type} can only have ${supported.join(', ')}`
    throw new FieldError(childPlace(place, keyword), reason)
  }
}

function checkAlternative<Value extends string>(
  place: string,
  value: unknown,
  alternatives: readonly Value[],
): Value {
  const found = alternatives.find((alternative) => alternative === value)
  if (found === undefined) throw new FieldError(place, `must be ${listAlternatives(alternatives)}`)
  return found
}

function checkText(place: string, text: unknown): void {
  if (text !== undefined && (typeof text !== 'string' || !isStorable(text)))
    throw new FieldError(place, 'must be a string without U+0000 and lone surrogates')
}

function checkStrings(place: string, schema: Unchecked): void {
  const { format } = schema
  if (format !== undefined)
    checkAlternative(childPlace(place, 'format'), format, keysOf(TEXT_FORMATS))
  checkRange(place, schema, ['minLength', 'maxLength'], [0, Number.MAX_SAFE_INTEGER])
  checkEnum(place, schema)
}

function checkNumbers(place: string, schema: Unchecked): void {
  if (schema.type === 'number') {
    checkRange(place, schema, ['minimum', 'maximum'])
    return
  }
  const format = checkAlternative(childPlace(place, 'format'), schema.format, ['int32', 'int64'])
  const [least, greatest] =
    format === 'int32'
      ? [-INT32_MAX - 1, INT32_MAX]
      : [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]
  checkRange(place, schema, ['minimum', 'maximum'], [least, greatest])
}

/**
 * Checks two limits.
 *
 * @param integers the range of limits that must be integers
 */
function checkRange(
  place: string,
  schema: Unchecked,
  [lower, upper]: readonly [keyof FieldSchema, keyof FieldSchema],
  integers?: readonly [least: number, greatest: number],
): void {
  for (const keyword of [lower, upper]) {
    const limit = schema[keyword]
    if (limit === undefined) continue
    const isInRange =
      integers === undefined
        ? Number.isFinite(limit)
        : Number.isInteger(limit) && Number(limit) >= integers[0] && Number(limit) <= integers[1]
    const expected =
      integers === undefined ? 'a number' : `an integer from ${integers[0]} to ${integers[1]}`
    if (!isInRange) throw new FieldError(childPlace(place, keyword), `must be ${expected}`)
  }
  if (Number(schema[lower]) > Number(schema[upper]))
    throw new FieldError(childPlace(place, lower), `must not exceed ${upper}`)
}

function checkEnum(place: string, schema: Unchecked): void {
  const { enum: values, examples: _, ...others } = schema
  if (values === undefined) return
  const own = childPlace(place, 'enum')
  if (!Array.isArray(values) || values.length === 0)
    throw new FieldError(own, 'must be a list of one or more strings')
  checkValues(own, values, others)
  const seen = new Set<unknown>()
  for (const [index, value] of values.entries()) {
    if (seen.has(value)) throw new FieldError(childPlace(own, String(index)), 'is repeated')
    seen.add(value)
  }
}

function checkExamples(place: string, schema: Unchecked): void {
  const { examples, ...others } = schema
  if (examples === undefined) return
  const own = childPlace(place, 'examples')
  if (!Array.isArray(examples)) throw new FieldError(own, 'must be a list')
  checkValues(own, examples, others)
}

/** Checks that some values are valid, because the contract publishes them. */
function checkValues(place: string, values: readonly unknown[], schema: Unchecked): void {
  const describe = fieldValidator(schema as FieldSchema)
  for (const [index, value] of values.entries()) {
    const violation = describe(value)
    if (violation !== undefined) throw new FieldError(childPlace(place, String(index)), violation)
  }
}
