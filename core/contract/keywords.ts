import {
  _,
  type Ajv2020,
  type CodeKeywordDefinition,
  type KeywordErrorDefinition,
} from 'ajv/dist/2020.js'
import type { TextFormat } from '../members/own-fields.ts'
import { TEXT_FORMATS } from './text-formats.ts'

type Message = KeywordErrorDefinition['message']

/** The numbers that a schema allows, as the value of a keyword that `addNumber` adds. */
export interface NumberRange {
  readonly minimum: number | undefined
  readonly maximum: number | undefined
  /** Whether null is allowed too. */
  readonly isNullable: boolean
}

/** Reads an exact number from a value. Returns undefined if there is none. */
export type ReadNumber = (value: unknown) => bigint | number | undefined

/** Where a value is stored, so that a keyword can replace it. */
interface Position {
  parentData: { [property: string | number]: unknown }
  parentDataProperty: string | number
}

/** The message for a number that is INEXACT. */
const NOT_PRESERVED =
  'must be a number that a double preserves, such as one with at most 15 significant digits'

/**
 * Adds a keyword that replaces a value with the number read from it, or fails if there is none or it is out of range.
 *
 * @param noun what the value must be, such as `an int64`
 */
export function addNumber(
  ajv: Ajv2020,
  keyword: 'int32' | 'int64' | 'number',
  noun: string,
  read: ReadNumber,
): void {
  ajv.addKeyword({
    keyword,
    modifying: true,
    errors: false,
    error: {
      message: ({ schema, data }) => {
        const expected = `must be ${noun}${describeRange(schema)}`
        // No other symbol is in parsed JSON.
        return keyword === 'number'
          ? _`typeof ${data} == "symbol" ? ${NOT_PRESERVED} : ${expected}`
          : expected
      },
    },
    validate: (range: NumberRange, value: unknown, _parent: unknown, position?: Position) => {
      const { minimum, maximum, isNullable } = range
      if (value === null && isNullable) return true
      const number = read(value)
      if (number === undefined) return false
      if (minimum !== undefined && number < minimum) return false
      if (maximum !== undefined && number > maximum) return false
      const { parentData, parentDataProperty } = position as Position
      parentData[parentDataProperty] = number
      return true
    },
  })
}

function describeRange({ minimum, maximum, isNullable }: NumberRange): string {
  return `${describeLimits(minimum, maximum)}${isNullable ? ' or null' : ''}`
}

function describeLimits(minimum: number | undefined, maximum: number | undefined): string {
  if (minimum === undefined) return maximum === undefined ? '' : ` of at most ${maximum}`
  return maximum === undefined ? ` of at least ${minimum}` : ` from ${minimum} to ${maximum}`
}

/** Adds the keyword `storable`, which rejects strings that a database cannot return unchanged. */
export function addStorable(ajv: Ajv2020): void {
  ajv.addKeyword({
    keyword: 'storable',
    type: 'string',
    errors: false,
    error: { message: 'must not contain U+0000 or a lone surrogate' },
    validate: (_schema: unknown, text: string) => isStorable(text),
  })
}

/** Whether a database can return a string unchanged. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

/** Makes the messages of some keywords for strings say what is valid. Adds their formats. */
export function describeStrings(ajv: Ajv2020): void {
  for (const [format, { isValid }] of Object.entries(TEXT_FORMATS)) {
    ajv.addFormat(format, { type: 'string', validate: isValid })
  }
  reword(ajv, 'format', ({ schema }) => TEXT_FORMATS[schema as TextFormat].message)
  reword(ajv, 'enum', ({ schema }) => `must be ${listAlternatives(schema)}`)
  reword(ajv, 'minLength', ({ schema }) => `must have ${schema} or more characters`)
  reword(ajv, 'maxLength', ({ schema }) => `must have ${schema} or fewer characters`)
}

/** Replaces the message of one of Ajv's keywords. */
function reword(ajv: Ajv2020, keyword: string, message: Message): void {
  const definition = ajv.getKeyword(keyword) as CodeKeywordDefinition
  ajv.removeKeyword(keyword)
  ajv.addKeyword({ ...definition, keyword, error: { ...definition.error, message } })
}

const ALTERNATIVES = new Intl.ListFormat('en-GB', { type: 'disjunction' })

/** Joins values as in `create, replace, update or remove`. */
export function listAlternatives(values: readonly unknown[]): string {
  return ALTERNATIVES.format(values.map(String))
}
