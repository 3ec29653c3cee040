import { Ajv2020, type KeywordErrorDefinition, type Options } from 'ajv/dist/2020.js'
import type { ContractDocument, Schema } from './contract.ts'
import { parseInt64 } from './int64.ts'

/** Validates a value. Replaces each integer in it with an exact number or bigint. */
export type Validator = ReturnType<Ajv2020['compile']>

/** Compiles a schema of the contract. */
export type ValidatorCompiler = (schema: Schema) => Validator

/** The contract's pattern for strings without U+0000, which exists so that tools generate valid strings. */
const WITHOUT_NUL = '^[^\\x00]*$'

/**
 * A compiler for schemas of JSON that `parseExactJson` has parsed. Its validators coerce and remove nothing,
 * and are stricter than JSON Schema:
 * - `type: integer` requires an exact value. With `format: int64` it must be in the whole range of int64, and
 *   becomes a bigint;
 * - `type: string` rejects strings that cannot be stored.
 *
 * With a `discriminator`, errors are those of the alternative that it selects.
 */
export function bodyCompiler(): ValidatorCompiler {
  const ajv = createBodyAjv()
  return (schema) => ajv.compile(withKeywords(schema))
}

/**
 * A compiler for schemas of parameters, which are strings. Its validators work like those of `bodyCompiler`,
 * but integers must be in decimal, int32 becomes a number, missing parameters get their defaults, and a list can have
 * one value.
 */
export function parameterCompiler(): ValidatorCompiler {
  // Coerces lists and booleans. Any other parameter is already a string.
  const ajv = createAjv({ useDefaults: true, coerceTypes: 'array' })
  addInteger(ajv, 'int64', 'must be an int64 in decimal', (text) => parseInt64(String(text)))
  const bounded: Message = ({ schema }) =>
    `must be an integer from ${schema.minimum} to ${schema.maximum}`
  addInteger(ajv, 'int32', bounded, (text, { minimum, maximum }) => {
    const integer = Number(parseInt64(String(text)))
    return integer >= minimum && integer <= maximum ? integer : undefined
  })
  return (schema) => ajv.compile(withKeywords(schema))
}

/**
 * Compiles a component schema of the contract, such as `NewPlant`, with the rules of `bodyCompiler`.
 *
 * @param name the name of the schema in `components/schemas`
 */
export function compileComponent({ components }: ContractDocument, name: string): Validator {
  const ajv = createBodyAjv()
  ajv.addKeyword('components')
  return ajv.compile({ $ref: `#/components/schemas/${name}`, components: withKeywords(components) })
}

function createBodyAjv(): Ajv2020 {
  const ajv = createAjv({ discriminator: true })
  addInteger(ajv, 'int64', 'must be an int64', (value) => {
    if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined
    // The parser returns no bigint beyond int64, but the seed of an embedded service can have one.
    if (typeof value === 'bigint') return BigInt.asIntN(64, value) === value ? value : undefined
    // Not a number, or INEXACT.
    return undefined
  })
  return ajv
}

function createAjv(options: Options): Ajv2020 {
  // The linter has checked that the contract's schemas are valid. To check them again, Ajv would first compile its
  // meta-schema, which takes longer than compiling all of them.
  const ajv = new Ajv2020({
    ...options,
    strict: true,
    allowUnionTypes: true,
    verbose: true,
    validateSchema: false,
  })
  ajv.addKeyword({
    keyword: 'storable',
    type: 'string',
    errors: false,
    error: { message: 'must not contain U+0000 or a lone surrogate' },
    validate: (_schema: unknown, text: string) => !text.includes('\0') && text.isWellFormed(),
  })
  return ajv
}

type Message = KeywordErrorDefinition['message']

interface Range {
  readonly minimum: number
  readonly maximum: number
}

/** Where a value is stored, so that a keyword can replace it. */
interface Position {
  parentData: { [property: string | number]: unknown }
  parentDataProperty: string | number
}

/** Adds a keyword that replaces a value with the integer read from it, or fails if there is none. */
function addInteger(
  ajv: Ajv2020,
  keyword: 'int32' | 'int64',
  message: Message,
  read: (value: unknown, range: Range) => bigint | number | undefined,
): void {
  ajv.addKeyword({
    keyword,
    modifying: true,
    errors: false,
    error: { message },
    validate: (range: Range, value: unknown, _parent: unknown, position?: Position) => {
      const integer = read(value, range)
      if (integer === undefined) return false
      const { parentData, parentDataProperty } = position as Position
      parentData[parentDataProperty] = integer
      return true
    },
  })
}

/**
 * Inserts our keywords: `int32` and `int64` replace `type: integer`, and `storable` is added to `type: string`. Completes
 * each `discriminator`.
 */
function withKeywords<Part>(schema: Part): Part {
  return replaceKeywords(schema) as Part
}

function replaceKeywords(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(replaceKeywords)
  if (typeof node !== 'object' || node === null) return node
  const entries = Object.entries(node).map(([name, member]) => [name, replaceKeywords(member)])
  const schema: Record<string, unknown> = Object.fromEntries(entries)
  const { type, format, minimum, maximum, discriminator, ...rest } = schema
  if (type === 'integer') return { ...rest, [format as string]: { minimum, maximum } }
  if (discriminator !== undefined)
    return { ...rest, ...discriminate(discriminator as Discriminator) }
  if ([type].flat().includes('string')) schema.storable = true
  // `storable` covers it, and its message names the invalid character.
  if (schema.pattern === WITHOUT_NUL) delete schema.pattern
  return schema
}

/** OpenAPI's object of that name. */
interface Discriminator {
  readonly propertyName: string
  readonly mapping: { readonly [value: string]: string }
}

/** Ajv supports no mapping, and its own errors for the property do not name the possible values. */
function discriminate({ propertyName, mapping }: Discriminator): object {
  return {
    type: 'object',
    required: [propertyName],
    properties: { [propertyName]: { enum: Object.keys(mapping) } },
    discriminator: { propertyName },
  }
}
