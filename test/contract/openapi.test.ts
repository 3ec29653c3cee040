/** The contract itself: that it keeps its promises to clients, and that the code is made from it. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { parse } from 'yaml'
import { generatedFiles } from '../../scripts/generated.ts'
import { conditions } from '../../src/contract/conditions.gen.ts'
import { contract, schemaErrors } from '../helpers/contract-check.ts'

const ANNOTATIONS = ['description', 'summary', 'example', 'examples', 'title']

const frozen = parse(
  readFileSync(new URL('../fixtures/interface-1.0.0.yaml', import.meta.url), 'utf8'),
)

t.test('the generated files are current', async (t) => {
  for (const [file, text] of await generatedFiles()) {
    t.equal(readFileSync(file, 'utf8'), text, 'else: npm run generate')
  }
})

t.test('what the interface 1.0.0 publishes still holds', async (t) => {
  const ours = plain(contract) as typeof frozen
  t.strictSame(ours.info.version, frozen.info.version)
  t.strictSame(ours.info.license, frozen.info.license)
  t.strictSame(ours.security, frozen.security)
  t.strictSame(ours.components.securitySchemes, frozen.components.securitySchemes)
  for (const [name, schema] of Object.entries(frozen.components.schemas)) {
    t.strictSame(ours.components.schemas[name], schema, name)
  }
  for (const [path, item] of Object.entries<object>(frozen.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      const same = ours.paths[path][method]
      t.strictSame(same.parameters, operation.parameters)
      t.strictSame(same.requestBody, operation.requestBody)
      for (const [status, { content }] of Object.entries<{ content: object }>(
        operation.responses,
      )) {
        t.strictSame(dereferenced(ours, same.responses[status]).content, content, status)
      }
    }
  }
})

t.test('the interface 1.0.0 knows no other way to be let in', async (t) => {
  for (const item of Object.values(contract.paths)) {
    for (const { security = contract.security } of Object.values(item)) {
      t.ok(security?.every((requirement) => Object.keys(requirement).join() === 'bearer'))
    }
  }
})

t.test('every example is valid against its schema', async (t) => {
  let examples = 0
  visit(contract, (node) => {
    const { schema, examples: named } = node as { schema?: object; examples?: object }
    if (schema === undefined || named === undefined) return
    for (const [name, { value }] of Object.entries(named)) {
      t.equal(schemaErrors(schema, value), undefined, name)
      examples++
    }
  })
  t.ok(examples > Object.keys(conditions).length)
})

t.test('the number of a condition tells its status', async (t) => {
  for (const [name, { status, error }] of Object.entries(conditions)) {
    t.ok(error > status * 100 && error < status * 100 + 100, name)
  }
})

t.test('every condition stands in a response of its own status', async (t) => {
  visit(contract, (node) => {
    for (const [status, reference] of Object.entries(responsesOf(node))) {
      const { content = {} } = dereferenced(contract, reference)
      for (const { examples = {} } of Object.values<{ examples?: object }>(content)) {
        for (const [name, { value }] of Object.entries(examples)) {
          if ('error' in value) t.equal(Math.trunc(value.error / 100), Number(status), name)
        }
      }
    }
  })
})

function responsesOf(node: object): Record<string, { content?: object }> {
  const { responses, 'x-responses-outside-operations': others } = node as Record<string, object>
  const isOperation = responses !== undefined && 'operationId' in node
  return { ...(isOperation ? responses : {}), ...others }
}

/** The document without what is for people, which may get better without breaking anybody. */
function plain(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(plain)
  if (typeof node !== 'object' || node === null) return node
  const kept = Object.entries(node).filter(([key]) => !ANNOTATIONS.includes(key))
  return Object.fromEntries(kept.map(([key, value]) => [key, plain(value)]))
}

// biome-ignore lint/suspicious/noExplicitAny: any part of any document
function dereferenced(document: any, node: any): any {
  if (node.$ref === undefined) return node
  const keys = node.$ref.replace('#/', '').split('/')
  return keys.reduce((part: Record<string, unknown>, key: string) => part[key], document)
}

function visit(node: unknown, look: (node: object) => void): void {
  if (typeof node !== 'object' || node === null) return
  look(node)
  for (const value of Object.values(node)) visit(value, look)
}
