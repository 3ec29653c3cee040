import { Ajv2020, type Options } from 'ajv/dist/2020.js'
import { readDecimal } from '../json/decimal.ts'
import { parseInt64 } from '../json/int64.ts'
import type { FieldSchema } from '../members/own-fields.ts'
import { NUMBER_RULES, toInt32 } from '../members/value-rules.ts'
import type { ContractDocument, Schema } from './contract.ts'
import { addNumber, addStorable, describeStrings, type NumberRange } from './keywords.ts'

/** Validates a value. Replaces each number in it with an exact one: an int64 with a bigint. */
export type Validator = ReturnType<Ajv2020['compile']>

/** Compiles a schema of the contract. */
export type ValidatorCompiler = (schema: Schema) => Validator

/** The contract's pattern for strings without U+0000, which exists so that tools generate valid strings. */
const WITHOUT_NUL = '^[^\\x00]*$'

/**
 * A compiler for schemas of JSON that a parser of `prepareParser` has parsed. Its validators coerce and remove nothing,
 * and are stricter than JSON Schema:
 * - `type: integer` requires an exact value in the whole range of its format, int32 or int64. An int64 becomes a bigint;
 * - `type: number` requires a value that is not INEXACT;
 * - `type: string` rejects strings that cannot be stored.
 *
 * With a `discriminator`, errors are those of the alternative that it selects.
 */
export function bodyCompiler(): ValidatorCompiler {
  const ajv = createBodyAjv()
  let inherited: Ajv2020 | undefined
  return compileOnce((schema) => {
    if (!hasInheritedName(schema)) return ajv.compile(withKeywords(schema))
    inherited ??= createBodyAjv({ ownProperties: true })
    return inherited.compile(withKeywords(schema))
  })
}

/**
 * A compiler for schemas of parameters, which are strings. Its validators work like those of `bodyCompiler`,
 * but integers must be in decimal, int32 and numbers become numbers, missing parameters get their defaults, and a list can have
 * one value.
 */
export function parameterCompiler(): ValidatorCompiler {
  // Coerces lists and booleans. Any other parameter is already a string.
  const ajv = createAjv({ useDefaults: true, coerceTypes: 'array' })
  addNumber(ajv, 'int64', {
    noun: 'an int64 in decimal',
    read: (text) => parseInt64(String(text)),
  })
  addNumber(ajv, 'int32', {
    noun: 'an integer',
    read: (text) => toInt32(parseInt64(String(text))),
  })
  addNumber(ajv, 'number', {
    noun: 'a number that a double preserves',
    read: (text) => readDecimal(String(text)),
  })
  describeStrings(ajv)
  return compileOnce((schema) => ajv.compile(withKeywords(schema)))
}

/** A compiler that has one validator for equal schemas, because operations share many. */
function compileOnce(compile: ValidatorCompiler): ValidatorCompiler {
  const validators = new Map<string, Validator>()
  return (schema) => {
    const key = JSON.stringify(schema)
    const validator = validators.get(key) ?? compile(schema)
    validators.set(key, validator)
    return validator
  }
}

/**
 * Compiles a component schema of the contract, such as `NewPlant`, with the rules of `bodyCompiler`.
 *
 * @param name the name of the schema in `components/schemas`
 */
export function compileComponent({ components }: ContractDocument, name: string): Validator {
  const ajv = createBodyAjv({ ownProperties: hasInheritedName(components) })
  ajv.addKeyword('components')
  return ajv.compile({ $ref: `#/components/schemas/${name}`, components: withKeywords(components) })
}

/**
 * Prepares the validation of an own field.
 *
 * @returns a function that returns what a value, parsed as by a parser of `prepareParser`, must be instead; undefined if
 *   it is valid
 */
export function fieldValidator(schema: FieldSchema): (value: unknown) => string | undefined {
  fieldCompiler ??= bodyCompiler()
  const isValid = fieldCompiler({ type: 'object', properties: { value: { ...schema } } })
  return (value) => (isValid({ value }) ? undefined : isValid.errors?.[0]?.message)
}

let fieldCompiler: ValidatorCompiler | undefined

/**
 * Whether a schema contains the name of a property that every object inherits, such as `constructor`. Only then must the
 * option `ownProperties` keep Ajv from reading inherited ones, because it makes the validation of a plant a third slower.
 */
function hasInheritedName(schema: object): boolean {
  return Object.entries(schema).some(
    ([name, member]) =>
      name in Object.prototype ||
      (typeof member === 'object' && member !== null && hasInheritedName(member)),
  )
}

function createBodyAjv(options: Options = {}): Ajv2020 {
  const ajv = createAjv({ discriminator: true, ...options })
  addNumber(ajv, 'int64', NUMBER_RULES.int64)
  addNumber(ajv, 'int32', NUMBER_RULES.int32)
  addNumber(ajv, 'number', NUMBER_RULES.number)
  describeStrings(ajv)
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
  addStorable(ajv)
  ajv.addKeyword('x-sortable')
  return ajv
}

/**
 * Inserts our keywords: `int32`, `int64` and `number` replace `type: integer` and `type: number`, and `storable` is added
 * to `type: string`. Completes each `discriminator`.
 */
function withKeywords<Part>(schema: Part): Part {
  return replaceKeywords(schema) as Part
}

/** @param isMap whether the node is no schema, but has schemas by the names of properties */
function replaceKeywords(node: unknown, isMap = false): unknown {
  if (Array.isArray(node)) return node.map((item) => replaceKeywords(item))
  if (typeof node !== 'object' || node === null) return node
  const entries = Object.entries(node).map(([name, member]) => [
    name,
    replaceKeywords(member, !isMap && name === 'properties'),
  ])
  const schema: Record<string, unknown> = Object.fromEntries(entries)
  if (isMap) return schema
  const { type, format, minimum, maximum, discriminator, ...rest } = schema
  const types = [type].flat()
  const range = { minimum, maximum, isNullable: types.includes('null') } as NumberRange
  if (types.includes('integer')) return { ...rest, [format as string]: range }
  if (types.includes('number')) return { ...rest, number: range }
  if (discriminator !== undefined)
    return { ...rest, ...discriminate(discriminator as Discriminator) }
  if (types.includes('string')) schema.storable = true
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
