/** The contract stays compatible with the last released one. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { parse } from 'yaml'
import { contract, dereference } from '../../helpers/service/contract-check.ts'
import { type Contract, findIncompatibilities } from './incompatibilities.ts'

/** Update it after each release: a copy of openapi.yaml as it was released. */
const RELEASED = 'contract-1.0.0.yaml'

const NO_CHALLENGE =
  'the new error read-only-mirror has no challenge, because another token would not help'

/** Incompatible changes since then that are intended, each with the reason. CHANGELOG.md must announce them. */
const INTENDED: Readonly<Record<string, string>> = {
  'GET /plants: parameter tag: maxLength changed':
    'the link to the next page of a longer tag could be too long for the service itself',
  'POST /plants: 403 header WWW-Authenticate is no longer certain': NO_CHALLENGE,
  'PUT /plants/{id}: 403 header WWW-Authenticate is no longer certain': NO_CHALLENGE,
  'PATCH /plants/{id}: scope read is now required':
    'the response is the plant, which a token without that scope must not see',
  'PATCH /plants/{id}: 403 header WWW-Authenticate is no longer certain': NO_CHALLENGE,
  'DELETE /plants/{id}: 403 header WWW-Authenticate is no longer certain': NO_CHALLENGE,
}

/** The pattern for strings without U+0000, a character that the service has always rejected. */
const WITHOUT_NUL = '^[^\\x00]*$'

t.test('every incompatible change since the last release is intended', async (t) => {
  const file = new URL(`../../fixtures/${RELEASED}`, import.meta.url)
  const before = plain(dereference(parse(readFileSync(file, 'utf8')))) as Contract
  const after = plain(dereference(contract)) as Contract
  t.strictSame(findIncompatibilities(before, after), Object.keys(INTENDED))
})

/** The document without patterns that only describe what the service has always required. */
function plain(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(plain)
  if (typeof node !== 'object' || node === null) return node
  const kept = Object.entries(node).filter(([, value]) => value !== WITHOUT_NUL)
  return Object.fromEntries(kept.map(([key, value]) => [key, plain(value)]))
}

const plant = {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string', minLength: 1 }, tag: { type: ['string', 'null'] } },
}
const limit = { name: 'limit', in: 'query', schema: { type: 'integer', maximum: 10 } }
const etag = { required: true, schema: { type: 'string' } }
const failure = { content: { json: { schema: {}, examples: { bad: { value: { error: 1 } } } } } }
const operation = {
  operationId: 'change',
  'x-scope': 'write',
  parameters: [limit],
  requestBody: { content: { json: { schema: plant } } },
  responses: { 200: { headers: { etag }, content: { json: { schema: plant } } }, 400: failure },
}

/** A contract with one operation. */
function withOperation(changes: object): Contract {
  return { paths: { '/x': { put: { ...operation, ...changes } } } }
}

/** The responses of `operation`, except for one. */
function withResponse(status: 200 | 400, changes: object): object {
  const { responses } = operation
  return { responses: { ...responses, [status]: { ...responses[status], ...changes } } }
}

const schemaOf = (changes: object) => ({ content: { json: { schema: { ...plant, ...changes } } } })
const { name, tag } = plant.properties

const INCOMPATIBLE: [changes: object, says: string][] = [
  [{ operationId: 'other' }, 'operationId changed'],
  [{ 'x-scope': ['read', 'write'] }, 'scope read is now required'],
  [{ parameters: [] }, 'parameter limit removed'],
  [{ parameters: [{ ...limit, required: true }] }, 'parameter limit is now required'],
  [
    { parameters: [{ ...limit, schema: { type: 'integer', maximum: 5 } }] },
    'parameter limit: maximum changed',
  ],
  [
    { parameters: [limit, { ...limit, in: 'header', required: true }] },
    'required parameter limit added',
  ],
  [{ requestBody: undefined }, 'request body removed'],
  [{ requestBody: { ...operation.requestBody, required: true } }, 'request body is now required'],
  [{ requestBody: { content: {} } }, 'media type json removed'],
  [{ requestBody: schemaOf({ required: ['name', 'tag'] }) }, 'request body/tag is now required'],
  [
    { requestBody: schemaOf({ properties: { name, tag: { type: 'string' } } }) },
    'request body/tag: type changed',
  ],
  [
    { requestBody: schemaOf({ properties: { name: { ...name, minLength: 2 }, tag } }) },
    'request body/name: minLength changed',
  ],
  [
    { requestBody: schemaOf({ properties: { name: { ...name, pattern: 'x' }, tag } }) },
    'request body/name: pattern changed',
  ],
  [withResponse(200, { headers: {} }), '200 header etag removed'],
  [
    withResponse(200, { headers: { etag: { ...etag, required: false } } }),
    '200 header etag is no longer certain',
  ],
  [withResponse(200, schemaOf({ required: [] })), '200 response body/name is no longer required'],
  [withResponse(200, schemaOf({ properties: { name } })), '200 response body/tag removed'],
  [withResponse(200, schemaOf({ type: ['object', 'array'] })), '200 response body: type changed'],
  [withResponse(200, { content: undefined }), '200 media type json removed'],
  [
    withResponse(400, {
      content: { json: { schema: {}, examples: { bad: { value: { error: 2 } } } } },
    }),
    '400 error bad removed or renumbered',
  ],
  [{ responses: { 200: operation.responses[200] } }, '400 removed'],
  [{ responses: { ...operation.responses, 202: {} } }, '202 is a new success'],
]
for (const [changes, says] of INCOMPATIBLE) {
  t.test(`incompatible: ${says}`, async (t) => {
    const found = findIncompatibilities(withOperation({}), withOperation(changes))
    t.strictSame(found, [`PUT /x: ${says}`])
  })
}

t.test('incompatible: an operation is removed', async (t) => {
  t.strictSame(findIncompatibilities(withOperation({}), { paths: {} }), ['PUT /x: removed'])
})

t.test('incompatible: the items of a list change', async (t) => {
  const list = (items: object) => withResponse(200, schemaOf({ type: 'array', ...items }))
  for (const items of [{ items: { type: 'integer' } }, {}]) {
    const found = findIncompatibilities(
      withOperation(list({ items: { type: 'string' } })),
      withOperation(list(items)),
    )
    t.strictSame(found, ['PUT /x: 200 response body/items: type changed'])
  }
})

t.test('incompatible: authentication changes', async (t) => {
  const bearer = { type: 'http', scheme: 'bearer' }
  const secured = (scheme: object, security: object[] = [{ token: [] }], own: object = {}) => ({
    ...withOperation(own),
    security,
    components: { securitySchemes: { token: scheme } },
  })
  const before = secured(bearer)
  t.strictSame(findIncompatibilities(before, secured({ ...bearer, description: 'x' })), [])
  for (const after of [
    secured({ ...bearer, scheme: 'basic' }),
    secured(bearer, []),
    secured(bearer, [{ token: [] }], { security: [{ other: [] }] }),
    withOperation({}),
  ]) {
    t.strictSame(findIncompatibilities(before, after), ['PUT /x: authentication changed'])
  }
})

const COMPATIBLE: [what: string, changes: object][] = [
  ['an optional parameter is added', { parameters: [limit, { ...limit, name: 'after' }] }],
  ['a larger limit', { parameters: [{ ...limit, schema: { type: 'integer', maximum: 20 } }] }],
  ['fewer scopes', { 'x-scope': [] }],
  [
    'an optional member is added to a request and a response',
    {
      requestBody: schemaOf({ allOf: [{ properties: { id: { type: 'integer' } } }] }),
      ...withResponse(200, schemaOf({ allOf: [{ properties: { id: { type: 'integer' } } }] })),
    },
  ],
  ['a status for an error is added', { responses: { ...operation.responses, 503: failure } }],
  ['a description', withResponse(200, { description: 'x' })],
]
for (const [what, changes] of COMPATIBLE) {
  t.test(`compatible: ${what}`, async (t) => {
    t.strictSame(findIncompatibilities(withOperation({}), withOperation(changes)), [])
  })
}
