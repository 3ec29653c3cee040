import t from 'tap'
import { type ContractDocument, loadContract, type Schema } from '../../contract/contract.ts'
import { parseExactJson } from '../../contract/exact-json.ts'
import { bodyProjection, componentProjection, type Projection } from '../../contract/projection.ts'

const scalar = { items: 'none' }

/** A projection without the fields that exist only for speed. */
function plain(projection: Projection): unknown {
  if (typeof projection === 'string') return projection
  const members = projection.members.map(({ name, projection }) => [name, plain(projection)])
  return { ...Object.fromEntries(members), items: plain(projection.items) }
}

function projectionOf(schema: Schema): Projection {
  const components = { schemas: { Leaf: { type: 'string' }, Tested: schema } }
  const document: ContractDocument = { info: { title: '', version: '' }, components, paths: {} }
  return componentProjection(document, 'Tested')
}

t.test('only the members of a plant are built from a body or an imported record', async (t) => {
  const plant = { id: scalar, name: scalar, tag: scalar, items: 'none' }
  t.same(plain(bodyProjection(loadContract())), { ...plant, items: plant })
  t.same(plain(componentProjection(loadContract(), 'NewPlant')), plant)
})

const leaf = { $ref: '#/components/schemas/Leaf' }
const cases: [what: string, schema: Schema, expected: unknown][] = [
  ['a scalar', { type: 'integer', format: 'int64' }, scalar],
  ['one of several scalars', { type: ['string', 'null'] }, scalar],
  ['a reference', { ...leaf, description: 'A leaf.' }, scalar],
  ['an object', { type: 'object', properties: { a: leaf } }, { a: scalar, items: 'none' }],
  ['an array', { type: 'array', items: leaf, maxItems: 3 }, { items: scalar }],
  ['an object or null', { type: ['object', 'null'], properties: {} }, scalar],
  [
    'an object or an array',
    { type: ['object', 'array'], properties: { a: leaf }, items: leaf },
    { a: scalar, items: scalar },
  ],
  [
    'several schemas at once',
    {
      allOf: [
        { type: 'object', properties: { a: leaf, b: { type: 'array', items: leaf } } },
        { type: 'object', properties: { b: { type: 'object', properties: { c: leaf } } } },
      ],
    },
    { a: scalar, b: { c: scalar, items: scalar }, items: 'none' },
  ],
  ['anything', {}, 'all'],
  ['any object', { type: 'object' }, 'all'],
  ['any array', { type: 'array' }, 'all'],
  ['any object, among others', { allOf: [leaf, { type: 'object' }] }, 'all'],
  ['no other members', { type: 'object', properties: {}, additionalProperties: false }, 'all'],
  ['a choice', { oneOf: [leaf] }, 'all'],
  ['different items', { type: 'array', items: leaf, uniqueItems: true }, 'all'],
]

for (const [what, schema, expected] of cases) {
  t.test(`derives the projection of a schema for ${what}`, async (t) => {
    t.same(plain(projectionOf(schema)), expected)
  })
}

t.test('of an array, at most one item more than is valid is built', async (t) => {
  const array = (maxItems?: number): Schema =>
    maxItems === undefined
      ? { type: 'array', items: leaf }
      : { type: 'array', items: leaf, maxItems }
  for (const [schema, built] of [
    [array(), 9],
    [array(3), 4],
    [{ allOf: [array(3), array(5)] }, 6],
    [{ type: 'string' }, 0],
    [leaf, 0],
  ] as const) {
    const parsed = parseExactJson(
      Buffer.from('[1, 2, 3, 4, 5, 6, 7, 8, [9]]'),
      projectionOf(schema),
    )
    t.equal((parsed as unknown[]).length, built)
  }
  t.throws(() => parseExactJson(Buffer.from('[1, 2, 3, 4, x]'), projectionOf(array(1))), /byte 13/)
})

t.test('a contract without bodies has the projection "none"', async (t) => {
  const info = { title: '', version: '' }
  const paths = { '/': { get: { responses: {} } } }
  const document = { info, paths, components: { schemas: {} } }
  t.equal(bodyProjection(document), 'none')
})
