/**
 * Writes what the code takes from the contract: types for the compiler, the catalogue of failures
 * for the service. With `--check` it writes nothing and fails when what stands there is stale.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import openapiTS, { astToString } from 'openapi-typescript'
import ts from 'typescript'
import { parse } from 'yaml'

const contract = new URL('../openapi.yaml', import.meta.url)
const types = new URL('../src/contract/api.gen.ts', import.meta.url)
const catalogue = new URL('../src/contract/conditions.gen.ts', import.meta.url)
const notice = '// Made from openapi.yaml by `npm run generate`; change it there.\n\n'

const bigint = ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword)
const files = new Map([
  [
    types,
    notice +
      astToString(
        await openapiTS(contract, {
          transform: (schema) => (schema.format === 'int64' ? bigint : undefined),
        }),
      ),
  ],
  [catalogue, notice + conditionsModule(parse(readFileSync(contract, 'utf8')))],
])

const stale = [...files].filter(([file, text]) => current(file) !== text)
if (process.argv.includes('--check')) {
  for (const [file] of stale) console.error(`${file.pathname} is stale: npm run generate`)
  process.exitCode = stale.length === 0 ? 0 : 1
} else {
  for (const [file, text] of stale) writeFileSync(file, text)
}

function current(file: URL): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

/** Every named example of an Error, wherever in the contract it stands, is a condition. */
function conditionsModule(document: unknown): string {
  const conditions = new Map<string, number>()
  collect(document, conditions)
  const lines = [...conditions]
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

function collect(node: unknown, conditions: Map<string, number>): void {
  if (typeof node !== 'object' || node === null) return
  for (const [key, value] of Object.entries(node)) {
    const error = value?.value?.error
    if (typeof error === 'number') {
      if ((conditions.get(key) ?? error) !== error) throw new Error(`two numbers for ${key}`)
      conditions.set(key, error)
    }
    collect(value, conditions)
  }
}
