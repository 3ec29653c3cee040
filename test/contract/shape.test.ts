import t from 'tap'
import { type ContractDocument, loadContract } from '../../src/contract/contract.ts'
import { bodyShape, componentShape, type Shape } from '../../src/contract/shape.ts'

const scalar = { items: 'none' }

/** A shape without the fields that exist only for speed. */
function plain(shape: Shape): unknown {
  if (typeof shape === 'string') return shape
  const members = shape.members.map(({ name, shape }) => [name, plain(shape)])
  return { ...Object.fromEntries(members), items: plain(shape.items) }
}

function shapeOf(schema: object): unknown {
  const components = { schemas: { Leaf: { type: 'string' }, Tested: schema } }
  const document = { components, paths: {} } as unknown as ContractDocument
  return plain(componentShape(document, 'Tested'))
}

t.test('the operations read these parts of a body, and an import these of a record', async (t) => {
  const plant = { id: scalar, name: scalar, tag: scalar, items: 'none' }
  t.same(plain(bodyShape(loadContract())), plant)
  t.same(plain(componentShape(loadContract(), 'NewPlant')), plant)
})

const leaf = { $ref: '#/components/schemas/Leaf' }
const cases: [what: string, schema: object, shape: unknown][] = [
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

for (const [what, schema, shape] of cases) {
  t.test(`the shape of a schema for ${what}`, async (t) => {
    t.same(shapeOf(schema), shape)
  })
}

t.test('the shape of a contract without bodies is none', async (t) => {
  const document = { info: { title: '', version: '' }, paths: { '/': { get: { responses: {} } } } }
  t.equal(bodyShape(document), 'none')
})
