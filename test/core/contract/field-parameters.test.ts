/** The query parameters for own fields, in the contract. */
import t from 'tap'
import { extendContract, loadContract } from '../../../core/contract/contract.ts'
import { parseFilterName } from '../../../core/contract/field-parameters.ts'
import { known } from '../../../core/known.ts'
import type { FieldSchema } from '../../../core/members/own-fields.ts'

interface Parameter {
  readonly name: string
  readonly description: string
  readonly schema: { readonly items?: object }
}

/** The parameters of `listPlants` in a contract with a field, without those that it always has. */
function added(name: string, schema: FieldSchema): Parameter[] {
  const before = loadContract().paths['/plants']?.get?.parameters ?? []
  const document = extendContract(loadContract(), [{ name, schema }])
  return (known(document.paths['/plants']?.get?.parameters) as Parameter[]).slice(before.length)
}

const LIST = { type: 'array', minItems: 1, maxItems: 200 }
const TRUE = { type: 'boolean', enum: [true] }

t.test(
  'each field has parameters with its type, format and values, but not its limits',
  async (t) => {
    const about = { title: 'Title', description: 'What it is.', examples: [] }
    const int32 = { type: 'integer', format: 'int32' } as const
    for (const [schema, value, isOrdered] of [
      [{ ...int32, minimum: 0, maximum: 9, ...about }, int32, true],
      [{ type: 'integer', format: 'int64' }, { type: 'integer', format: 'int64' }, true],
      [{ type: 'number', minimum: 0 }, { type: 'number' }, true],
      [{ type: 'string', format: 'date' }, { type: 'string', format: 'date' }, true],
      [{ type: 'string', format: 'date-time' }, { type: 'string', format: 'date-time' }, true],
      [{ type: 'string', format: 'uri', maxLength: 9 }, { type: 'string', format: 'uri' }, false],
      [{ type: 'string', minLength: 1 }, { type: 'string' }, false],
      [{ type: 'string', enum: ['a', 'b'] }, { type: 'string', enum: ['a', 'b'] }, false],
      [{ type: 'boolean' }, { type: 'boolean' }, false],
    ] as const) {
      const limits = [
        { name: 'min.f', in: 'query', schema: value },
        { name: 'max.f', in: 'query', schema: value },
      ]
      t.strictSame(
        added('f', schema).map(({ description, ...parameter }) => parameter),
        [
          { name: 'is.f', in: 'query', schema: { ...LIST, items: value } },
          ...(isOrdered ? limits : []),
          { name: 'without.f', in: 'query', schema: TRUE },
        ],
      )
    }
  },
)

t.test('only dates among the values of an enum limit dates', async (t) => {
  const schema = { type: 'string', format: 'date', enum: ['2026-11-25'] } as const
  const [is, min] = added('f', schema)
  t.strictSame(is?.schema.items, schema)
  t.strictSame(min?.schema, { type: 'string', format: 'date' })
})

t.test('a description has the name, the title and the description of the field', async (t) => {
  const schema = {
    type: 'integer',
    format: 'int32',
    title: 'Height',
    description: 'In cm.',
  } as const
  for (const { description } of added('height', schema)) {
    t.match(description, '`height`')
    t.match(description, /\n\nHeight: In cm\.$/)
  }
  const { title, ...untitled } = schema
  t.match(added('f', untitled)[0]?.description, /\n\nIn cm\.$/)
  t.notMatch(added('f', { type: 'boolean' })[0]?.description, '\n')
})

t.test('no parameter of any operation can be that of a field', async (t) => {
  const document = loadContract()
  const operations = Object.values(document.paths).flatMap((item) => Object.values(item))
  const names = operations.flatMap(({ parameters = [] }) =>
    parameters.map((parameter) => String((parameter as { name?: string }).name)),
  )
  t.ok(names.length > 10)
  t.strictSame(
    names.filter((name) => name.includes('.')),
    [],
  )
})

t.test('a name is parsed up to its first dot', async (t) => {
  for (const [parameter, expected] of [
    ['is.height', { kind: 'is', name: 'height' }],
    ['without.min.x', { kind: 'without', name: 'min.x' }],
    ['max..', { kind: 'max', name: '.' }],
    ...['', '.', 'is', 'Is.x', 'toString.x', '.is.x', 'q'].map(
      (name) => [name, undefined] as const,
    ),
  ] as const)
    t.strictSame(parseFilterName(parameter), expected, parameter)
})
