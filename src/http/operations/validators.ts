import type { FastifySchemaCompiler } from 'fastify'
import type { Schema } from '../../../contract/contract.ts'
import { bodyCompiler, parameterCompiler } from '../../../contract/validation.ts'

/** A Fastify validator compiler for the parts of a request that the contract has schemas for. */
export function requestValidators(): FastifySchemaCompiler<Schema> {
  const compileBody = bodyCompiler()
  const compileParameters = parameterCompiler()
  return ({ schema, httpPart }) => {
    if (httpPart === 'body') return compileBody(schema)
    return compileParameters(httpPart === 'headers' ? withLowerCaseNames(schema) : schema)
  }
}

/** Node passes the names of headers in lower case. */
function withLowerCaseNames(schema: Schema): Schema {
  const properties = Object.entries({ ...schema.properties })
  const lowerCase = properties.map(([name, property]) => [name.toLowerCase(), property])
  return { ...schema, properties: Object.fromEntries(lowerCase) }
}
