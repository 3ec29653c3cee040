import { Ajv2020, type KeywordErrorDefinition, type Options } from 'ajv/dist/2020.js'
import type { ContractDocument } from './contract.ts'
import { parseInt64 } from './int64.ts'

type Schema = { [keyword: string]: unknown }

/** A schema made ready; it may replace parts of the data by what they mean. */
export type Validator = ReturnType<Ajv2020['compile']>

/** The contract's pattern for strings without U+0000, which exists so that tools generate valid strings. */
const WITHOUT_NUL = '^[^\\x00]*$'

/** As Fastify calls it, for each part of a request that the contract has a schema for. */
interface RoutePart {
  readonly schema: unknown
  readonly httpPart?: string
}

/**
 * Compiles schemas of the contract for what comes in. Nothing is coerced or removed, and some things are
 * stricter than JSON Schema has them:
 * - `type: integer` takes only what is exact: in a body what `parseExactJson` reads as one, in a
 *   parameter its decimal text. With `format: int64` it checks the whole range and leaves a bigint in
 *   its place, a number otherwise;
 * - `type: string` rejects text that could not be returned as it was sent.
 */
export function compileValidators(): (part: RoutePart) => Validator {
  const bodies = bodyAjv()
  const parameters = parameterAjv()
  return ({ schema, httpPart }) =>
    httpPart === 'body'
      ? bodies.compile(exact(schema))
      : parameters.compile(exact(parametersOf(schema as Schema, httpPart)))
}

function bodyAjv(): Ajv2020 {
  const ajv = ajvWith({})
  addInteger(ajv, 'int64', 'must be an int64', (value) => {
    // A text holds no larger one as a bigint, but a program may.
    const exact =
      typeof value === 'bigint' ? BigInt.asIntN(64, value) === value : Number.isSafeInteger(value)
    return exact ? BigInt(value as bigint | number) : undefined
  })
  return ajv
}

function parameterAjv(): Ajv2020 {
  const ajv = ajvWith({ useDefaults: true, verbose: true })
  addInteger(ajv, 'int64', 'must be an int64 in decimal', (text) => parseInt64(String(text)))
  const bounded: Message = ({ schema }) =>
    `must be an integer from ${schema.minimum} to ${schema.maximum}`
  addInteger(ajv, 'int32', bounded, (text, { minimum, maximum }) => {
    const integer = Number(parseInt64(String(text)))
    return integer >= minimum && integer <= maximum ? integer : undefined
  })
  return ajv
}

function ajvWith(options: Options): Ajv2020 {
  const ajv = new Ajv2020({ ...options, strict: true, allowUnionTypes: true })
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

/** Where in the request the value stands, so that a keyword can replace it. */
interface Position {
  parentData: { [property: string | number]: unknown }
  parentDataProperty: string | number
}

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

/** Node gives the names of headers in lower case. */
function parametersOf(schema: Schema, httpPart: string | undefined): Schema {
  if (httpPart !== 'headers') return schema
  const properties = Object.entries(schema.properties as Schema)
  const lower = properties.map(([name, property]) => [name.toLowerCase(), property])
  return { ...schema, properties: Object.fromEntries(lower) }
}

/** Puts our keywords where the contract has the types that they make exact. */
function exact(schema: unknown): Schema {
  return replaced(schema) as Schema
}

function replaced(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(replaced)
  if (typeof schema !== 'object' || schema === null) return schema
  const ours: Schema = {}
  for (const [keyword, value] of Object.entries(schema)) ours[keyword] = replaced(value)
  const { type, format, minimum, maximum, ...rest } = ours
  if (type === 'integer') return { ...rest, [format as string]: { minimum, maximum } }
  if ([type].flat().includes('string')) ours.storable = true
  // `storable` covers it, and its message names the invalid character.
  if (ours.pattern === WITHOUT_NUL) delete ours.pattern
  return ours
}

/**
 * Compiles a component schema of the contract, such as `NewPlant`, for what is read from a file: it is
 * checked as a body is.
 */
export function compileComponent({ components }: ContractDocument, name: string): Validator {
  const ajv = bodyAjv()
  ajv.addKeyword('components')
  return ajv.compile({ $ref: `#/components/schemas/${name}`, components: exact(components) })
}
