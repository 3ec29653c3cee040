/** Generators for fast-check, derived from the contract's schemas. */
import fc from 'fast-check'

interface Schema {
  $ref?: string
  type?: string | string[]
  format?: string
  allOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
}

/** JSON as sent, or a fragment of it. */
type Text = string

const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n }

/** Number of code points that are surrogates, not characters. */
const SURROGATES = 0x800

/** Any character. fast-check's own generator first builds a table of all of them, which takes a second. */
const character = fc.nat({ max: 0x10ffff - SURROGATES }).map(
  (number) => String.fromCodePoint(number < 0xd800 ? number : number + SURROGATES),
  (value) => {
    const [first = '', ...more] = String(value)
    if (first === '' || more.length > 0) throw new Error('not one character')
    const number = first.codePointAt(0) as number
    return number < 0xd800 ? number : number - SURROGATES
  },
)

/** Any well-formed Unicode string. */
export function anyText(constraints: { maxLength?: number } = {}): fc.Arbitrary<string> {
  return fc.string({ ...constraints, unit: character })
}

/** Any string that the service can store and return unchanged. */
export const storable = anyText({ maxLength: 50 }).filter((text) => !text.includes('\0'))

const unstorable = fc
  .tuple(storable, fc.constantFrom('\0', '\ud800', '\udfff'), storable)
  .map((parts) => parts.join('#'))

/** Endings that do not change the value of an integer, except 0e-1, which follows ten times the value. */
const ENDING = fc.constantFrom('', '.0', '.000', 'e0', '0e-1')

function spelled(integer: bigint | number, ending: string): Text {
  return integer === 0 || integer === 0n ? '0' : integer + ending
}

/** An int64 and one of its spellings in JSON. */
export const int64: fc.Arbitrary<{ id: bigint; text: Text }> = fc
  .tuple(fc.bigInt(INT64), ENDING)
  .map(([id, ending]) => ({ id, text: spelled(id, ending) }))

const ANY = fc.jsonValue().map((value) => JSON.stringify(value))

/** JSON for each property of a valid value. */
export function validMembers(schema: Schema): fc.Arbitrary<Record<string, Text>> {
  const { properties, required } = merged(schema)
  const members = Object.entries(properties).map(([name, property]) => [name, valid(property)])
  return fc.record(Object.fromEntries(members), { requiredKeys: required })
}

/** JSON for each property of a value in which one property is missing or invalid. */
export function invalidMembers(schema: Schema): fc.Arbitrary<Record<string, Text>> {
  const { properties, required } = merged(schema)
  const dropped = required.map((name) => validMembers(schema).map((members) => omit(members, name)))
  const wrong = Object.entries(properties).map(([name, property]) =>
    fc
      .tuple(validMembers(schema), invalid(property))
      .map(([all, text]) => ({ ...all, [name]: text })),
  )
  return fc.oneof(...dropped, ...wrong)
}

/** Members that the schema does not define. */
export function unknownMembers(schema: Schema): fc.Arbitrary<Record<string, Text>> {
  const known = Object.keys(merged(schema).properties)
  return fc.dictionary(
    fc.string().filter((name) => !known.includes(name)),
    ANY,
    { maxKeys: 3, noNullPrototype: true },
  )
}

export function objectText(members: Record<string, Text>): Text {
  const pairs = Object.entries(members).map(([name, text]) => `${JSON.stringify(name)}: ${text}`)
  return `{${pairs.join(', ')}}`
}

function valid(schema: Schema): fc.Arbitrary<Text> {
  const { type, format } = schema
  if (Array.isArray(type)) return fc.oneof(...type.map((each) => valid({ ...schema, type: each })))
  if (type === 'null') return fc.constant('null')
  if (type === 'integer' && format === 'int64') return int64.map(({ text }) => text)
  if (type !== 'string') throw new Error(`no arbitrary for ${type} ${format}`)
  return storable.map((each) => JSON.stringify(each))
}

function invalid({ type }: Schema): fc.Arbitrary<Text> {
  const types = [type].flat()
  const otherType = fc
    .jsonValue()
    .filter((value) => !typesOf(value).some((each) => types.includes(each)))
    .map((value) => JSON.stringify(value))
  const others: fc.Arbitrary<Text>[] = []
  if (types.includes('string')) others.push(unstorable.map((text) => JSON.stringify(text)))
  if (types.includes('integer')) {
    others.push(fc.bigInt({ min: INT64.max + 1n }).map(String))
    others.push(fc.bigInt({ max: INT64.min - 1n }).map(String))
    others.push(int64.map(({ id }) => `${id}.5`))
  }
  return fc.oneof(otherType, ...others)
}

/** JSON Schema's names for the type of a value. */
function typesOf(value: unknown): string[] {
  if (value === null) return ['null']
  return Number.isInteger(value) ? ['integer', 'number'] : [typeof value]
}

function merged(schema: Schema): { properties: Record<string, Schema>; required: string[] } {
  const parts = (schema.allOf ?? []).map(merged)
  return {
    properties: Object.assign({}, ...parts.map((part) => part.properties), schema.properties),
    required: [...parts.flatMap((part) => part.required), ...(schema.required ?? [])],
  }
}

function omit(members: Record<string, Text>, name: string): Record<string, Text> {
  return Object.fromEntries(Object.entries(members).filter(([each]) => each !== name))
}
