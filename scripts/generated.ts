/** What the code takes from the contract: types for the compiler, the catalogue of failures. */
import { readFileSync } from 'node:fs'
import openapiTS, { astToString } from 'openapi-typescript'
import ts from 'typescript'
import { parse } from 'yaml'

const CONTRACT = new URL('../openapi.yaml', import.meta.url)
const NOTICE = '// Made from openapi.yaml by `npm run generate`; change it there.\n\n'

/** The generated files and what has to be in them. */
export async function generatedFiles(): Promise<Map<URL, string>> {
  const document = parse(readFileSync(CONTRACT, 'utf8'))
  return new Map([
    [new URL('../src/contract/api.gen.ts', import.meta.url), NOTICE + (await types())],
    [new URL('../src/contract/conditions.gen.ts', import.meta.url), NOTICE + conditions(document)],
  ])
}

async function types(): Promise<string> {
  const bigint = ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword)
  const nodes = await openapiTS(CONTRACT, {
    transform: (schema) => (schema.format === 'int64' ? bigint : undefined),
  })
  return astToString(nodes)
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
    '/** The conditions of failure by name, with the status and the `error` that tell of them. */\n',
    `export const conditions = {\n${lines.join('')}} as const\n\n`,
    'export type Condition = keyof typeof conditions\n',
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
