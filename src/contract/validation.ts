import { Ajv2020 } from 'ajv/dist/2020.js'

type Schema = { [keyword: string]: unknown }

/**
 * Compiles schemas of the contract for what comes in. Nothing is coerced, removed or filled in, and
 * two things are stricter than JSON Schema has them:
 * - `type: integer, format: int64` takes what `parseExactJson` reads as an integer, checks the whole
 *   range, and leaves a bigint in its place;
 * - `type: string` refuses text that could not come back as it was sent.
 */
export function compileValidators(): (route: { schema: unknown }) => (data: unknown) => boolean {
  const ajv = new Ajv2020({ strict: true, coerceTypes: false, removeAdditional: false })
  ajv.addKeyword({
    keyword: 'int64',
    modifying: true,
    errors: false,
    error: { message: 'must be an int64' },
    validate: (_schema: unknown, data: unknown, _parent: unknown, position?: Position) => {
      if (typeof data !== 'bigint' && !Number.isSafeInteger(data)) return false
      const { parentData, parentDataProperty } = position as Position
      parentData[parentDataProperty] = BigInt(data as number | bigint)
      return true
    },
  })
  ajv.addKeyword({
    keyword: 'storable',
    type: 'string',
    errors: false,
    error: { message: 'must not have the character U+0000 or a lone surrogate' },
    validate: (_schema: unknown, text: string) => !text.includes('\0') && text.isWellFormed(),
  })
  return ({ schema }) => ajv.compile(withExactTypes(schema) as Schema)
}

/** Where in the request the value stands, so that a keyword can replace it. */
interface Position {
  parentData: { [property: string | number]: unknown }
  parentDataProperty: string | number
}

/** Puts our keywords where the contract has the types that they make exact. */
function withExactTypes(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withExactTypes)
  if (typeof schema !== 'object' || schema === null) return schema
  const exact: Schema = {}
  for (const [keyword, value] of Object.entries(schema)) exact[keyword] = withExactTypes(value)
  if (exact.type === 'string') exact.storable = true
  if (exact.type === 'integer' && exact.format === 'int64') {
    exact.int64 = true
    delete exact.type
    delete exact.format
  }
  return exact
}
