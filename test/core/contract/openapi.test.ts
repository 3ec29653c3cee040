/** The contract itself: it stays compatible, and its examples are valid. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { parse } from 'yaml'
import { errorCodes } from '../../../core/generated/error-codes.gen.ts'
import {
  contract,
  dereference,
  operations,
  responsesOutsideOperations,
  schemaErrors,
  schemaOf,
} from '../../helpers/service/contract-check.ts'

const ANNOTATIONS = ['description', 'summary', 'example', 'examples', 'title']

const WITHOUT_NUL = '^[^\\x00]*$'

// biome-ignore lint/suspicious/noExplicitAny: any part of any document
type Frozen = any

const frozen: Frozen = parse(
  readFileSync(new URL('../../fixtures/interface-1.0.0.yaml', import.meta.url), 'utf8'),
)

t.test('everything in the interface 1.0.0 is unchanged', async (t) => {
  const [ours, theirs] = [contract, frozen].map((each) => plain(dereference(each))) as Frozen[]
  t.strictSame(ours.info.version, theirs.info.version)
  t.strictSame(ours.info.license, theirs.info.license)
  t.strictSame(ours.security, theirs.security)
  t.strictSame(ours.components.securitySchemes, theirs.components.securitySchemes)
  for (const [name, schema] of Object.entries(theirs.components.schemas)) {
    t.strictSame(ours.components.schemas[name], schema, name)
  }
  for (const [path, item] of Object.entries<object>(theirs.paths)) {
    t.strictSame(
      ours.paths[path].parameters,
      undefined,
      'path-level parameters would add to those of the interface',
    )
    for (const [method, operation] of Object.entries(item)) {
      const same = ours.paths[path][method]
      t.strictSame(same.security, operation.security)
      t.strictSame(same.parameters, operation.parameters)
      t.strictSame(same.requestBody, operation.requestBody)
      for (const [status, { content }] of Object.entries<{ content: object }>(
        operation.responses,
      )) {
        t.strictSame(same.responses[status].content, content, status)
      }
    }
  }
})

t.test('the only authentication is that of the interface 1.0.0', async (t) => {
  for (const { operationId, security = contract.security } of operations()) {
    t.strictSame(security, [{ bearer: [] }], String(operationId))
  }
})

t.test('every property has a schema that is an object', async (t) => {
  const schemas: unknown[] = []
  visit(dereference(contract), (node) => {
    const { properties = {} } = node as { properties?: object }
    schemas.push(...Object.values(properties))
  })
  t.ok(schemas.length > 50)
  // Generators such as orval fail on a boolean schema.
  const others = schemas.filter((schema) => typeof schema !== 'object')
  t.strictSame(others, [])
})

t.test('every example is valid against its schema', async (t) => {
  const valid = new Set<string>()
  visit(dereference(contract), (node) => {
    const { schema, examples: named } = node as { schema?: object; examples?: object }
    if (schema === undefined || named === undefined) return
    for (const [name, { value }] of Object.entries(named)) {
      const errors = schemaErrors(schema, value)
      if (errors === undefined) valid.add(name)
      else t.fail(`${name}: ${errors}`)
    }
  })
  const missing = Object.keys(errorCodes).filter((name) => !valid.has(name))
  t.same(missing, [], 'every error code has an example')
})

t.test('every example within a schema is valid against it', async (t) => {
  const valid: unknown[] = []
  visit(dereference(contract), (schema) => {
    const { examples } = schema as { examples?: unknown }
    if (!Array.isArray(examples)) return
    t.strictSame(examples.map((value) => schemaErrors(schema, value)).filter(Boolean), [])
    valid.push(...examples)
  })
  t.ok(valid.includes('<?limit=2&after=49>; rel="next"'))
})

t.test('a string with U+0000 is invalid everywhere in a request', async (t) => {
  const strings: object[] = []
  for (const { parameters = [], requestBody } of operations() as Frozen[]) {
    visit([parameters, requestBody], (schema) => {
      const { type } = schema as { type?: string | string[] }
      if ([type].flat().includes('string')) strings.push(schema)
    })
  }
  t.ok(strings.length > 0)
  t.strictSame(
    strings.filter((schema) => schemaErrors(schema, 'a\0b') === undefined),
    [],
  )
  const { Plant = {}, PlantPatch = {} } = dereference(contract).components.schemas
  for (const text of ['', 'x', '\n', '\u{1f331}', 'a\n\u2028\r', '\x01\x7f\x80']) {
    for (const schema of [Plant, PlantPatch]) {
      t.equal(schemaErrors(schema, { name: text, tag: text }), undefined)
    }
  }
  t.equal(schemaErrors(PlantPatch, { tag: null }), undefined)
})

t.test('a change has a plant unless it is a removal', async (t) => {
  const change = { cursor: 'AAEC', at: '2026-11-21T15:00:00.000Z', id: 4 }
  const plant = { name: 'Abies alba Mill.' }
  for (const [type, isRemoval] of [
    ['created', false],
    ['changed', false],
    ['removed', true],
  ] as const) {
    const isValid = (value: object) => schemaErrors(schemaOf('Change'), value) === undefined
    t.equal(isValid({ ...change, type }), isRemoval, type)
    t.equal(isValid({ ...change, type, plant }), !isRemoval, `${type} with a plant`)
  }
})

t.test('the number of an error code starts with its status', async (t) => {
  for (const [name, { status, error }] of Object.entries(errorCodes)) {
    t.ok(error > status * 100 && error < status * 100 + 100, name)
  }
})

t.test('every error code is an example in responses with its status', async (t) => {
  const placed = new Set<string>()
  const groups = [responsesOutsideOperations(), ...operations().map(({ responses }) => responses)]
  for (const [status, { content = {} }] of groups.flatMap((group) => Object.entries(group))) {
    for (const { examples } of Object.values(content)) {
      for (const [name, { value }] of Object.entries(examples)) {
        const { error } = value as { error?: number }
        if (error === undefined) continue
        t.equal(Math.trunc(error / 100), Number(status), name)
        placed.add(name)
      }
    }
  }
  t.same([...placed].sort(), Object.keys(errorCodes).sort())
})

/**
 * The document without descriptions, which can change without breaking clients, and without the pattern against
 * U+0000, a character that the service has always rejected.
 */
function plain(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(plain)
  if (typeof node !== 'object' || node === null) return node
  const kept = Object.entries(node).filter(
    ([key, value]) => !ANNOTATIONS.includes(key) && !(key === 'pattern' && value === WITHOUT_NUL),
  )
  return Object.fromEntries(kept.map(([key, value]) => [key, plain(value)]))
}

function visit(node: unknown, look: (node: object) => void): void {
  if (typeof node !== 'object' || node === null) return
  look(node)
  for (const value of Object.values(node)) visit(value, look)
}
