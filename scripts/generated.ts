/** What the code takes from the contract: types for the compiler, the catalogue of failures. */
import { readFileSync } from 'node:fs'
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript'
import ts from 'typescript'
import { parse } from 'yaml'

const CONTRACT = new URL('../openapi.yaml', import.meta.url)
const NOTICE = '// Made from openapi.yaml by `npm run generate`; change it there.\n\n'

/** The generated files and what has to be in them. */
export async function generatedFiles(): Promise<Map<URL, string>> {
  const document = parse(readFileSync(CONTRACT, 'utf8'))
  return new Map([
    [new URL('../src/contract/api.gen.ts', import.meta.url), NOTICE + (await handled(document))],
    [new URL('../client/api.gen.ts', import.meta.url), NOTICE + (await types(document))],
    [new URL('../src/contract/error-codes.gen.ts', import.meta.url), NOTICE + conditions(document)],
  ])
}

/** Requests as they reach a handler: where the contract has a default, there is a value. */
function handled(document: OpenAPI3): Promise<string> {
  return types(withDefaultsFilledIn(document))
}

/** Requests and answers as a client has them. */
async function types(document: OpenAPI3): Promise<string> {
  const bigint = ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword)
  const nodes = await openapiTS(document, {
    transform: (schema) => (schema.format === 'int64' ? bigint : undefined),
  })
  return astToString(nodes)
}

function withDefaultsFilledIn(document: OpenAPI3): OpenAPI3 {
  const isParameter = (value: object) => 'in' in value && 'schema' in value
  const text = JSON.stringify(document, (_key, value) =>
    value?.schema?.default !== undefined && isParameter(value)
      ? { ...value, required: true }
      : value,
  )
  return JSON.parse(text)
}

/** Every named example of an Error, wherever in the contract it stands, is a condition. */
function conditions(document: unknown): string {
  const numbers = new Map<string, number>()
  collect(document, numbers)
  const lines = [...numbers]
    .sort(([, a], [, b]) => a - b)
    .map(([name, error]) => {
      const status = Math.trunc(error / 100)
      return `  '${name}': { status: ${status}, error: ${error} },\n`
    })
  return [
    '/** The error codes by name, with the status and `error` of the response. */\n',
    `export const errorCodes = {\n${lines.join('')}} as const\n\n`,
    'export type ErrorCode = keyof typeof errorCodes\n',
  ].join('')
}

function collect(node: unknown, numbers: Map<string, number>): void {
  if (typeof node !== 'object' || node === null) return
  for (const [name, value] of Object.entries(node)) {
    const error = value?.value?.error
    if (typeof error === 'number') numbers.set(name, error)
    collect(value, numbers)
  }
}
