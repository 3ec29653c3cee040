import {
  _,
  type Ajv2020,
  type CodeKeywordDefinition,
  type KeywordErrorDefinition,
} from 'ajv/dist/2020.js'
import { TEXT_FORMATS } from '../members/text-formats.ts'
import {
  describeRange,
  isInRange,
  isStorable,
  type NumberRange as Limits,
  type NumberRule,
  TEXT_MESSAGES,
} from '../members/value-rules.ts'

type Message = KeywordErrorDefinition['message']

/** The numbers that a schema allows, as the value of a keyword that `addNumber` adds. */
export interface NumberRange extends Limits {
  /** Whether null is allowed too. */
  readonly isNullable: boolean
}

/** Where a value is stored, so that a keyword can replace it. */
interface Position {
  parentData: { [property: string | number]: unknown }
  parentDataProperty: string | number
}

/** The message for a number that is INEXACT. */
const NOT_PRESERVED =
  'must be a number that a double preserves, such as one with at most 15 significant digits'

/** Adds a keyword that replaces a value with the number read from it, or fails if there is none or it is out of range. */
export function addNumber(
  ajv: Ajv2020,
  keyword: 'int32' | 'int64' | 'number',
  { noun, read }: NumberRule,
): void {
  ajv.addKeyword({
    keyword,
    modifying: true,
    errors: false,
    error: {
      message: ({ schema, data }) => {
        const expected = `must be ${noun}${describeRange(schema)}${schema.isNullable ? ' or null' : ''}`
        // No other symbol is in parsed JSON.
        return keyword === 'number'
          ? _`typeof ${data} == "symbol" ? ${NOT_PRESERVED} : ${expected}`
          : expected
      },
    },
    validate: (range: NumberRange, value: unknown, _parent: unknown, position?: Position) => {
      if (value === null && range.isNullable) return true
      const number = read(value)
      if (!isInRange(number, range)) return false
      const { parentData, parentDataProperty } = position as Position
      parentData[parentDataProperty] = number
      return true
    },
  })
}

/** Adds the keyword `storable`, which rejects strings that a database cannot return unchanged. */
export function addStorable(ajv: Ajv2020): void {
  ajv.addKeyword({
    keyword: 'storable',
    type: 'string',
    errors: false,
    error: { message: TEXT_MESSAGES.storable },
    validate: (_schema: unknown, text: string) => isStorable(text),
  })
}

/** Makes the messages of some keywords for strings say what is valid. Adds their formats. */
export function describeStrings(ajv: Ajv2020): void {
  for (const [format, { isValid }] of Object.entries(TEXT_FORMATS)) {
    ajv.addFormat(format, { type: 'string', validate: isValid })
  }
  reword(ajv, 'format', ({ schema }) => TEXT_MESSAGES.format(schema))
  reword(ajv, 'enum', ({ schema }) => TEXT_MESSAGES.enum(schema))
  reword(ajv, 'minLength', ({ schema }) => TEXT_MESSAGES.minLength(schema))
  reword(ajv, 'maxLength', ({ schema }) => TEXT_MESSAGES.maxLength(schema))
}

/** Replaces the message of one of Ajv's keywords. */
function reword(ajv: Ajv2020, keyword: string, message: Message): void {
  const definition = ajv.getKeyword(keyword) as CodeKeywordDefinition
  ajv.removeKeyword(keyword)
  ajv.addKeyword({ ...definition, keyword, error: { ...definition.error, message } })
}
