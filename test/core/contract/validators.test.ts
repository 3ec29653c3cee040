import t from 'tap'
import { loadContract, type Schema } from '../../../core/contract/contract.ts'
import {
  bodyCompiler,
  compileComponent,
  fieldValidator,
  parameterCompiler,
} from '../../../core/contract/validators.ts'
import { INEXACT } from '../../../core/json/int64.ts'
import { known } from '../../../core/known.ts'
import type { FieldSchema } from '../../../core/members/own-fields.ts'

const DOUBLE =
  'must be a number that a double preserves, such as one with at most 15 significant digits'

interface Case {
  readonly schema: FieldSchema
  /** Values, each with the value that replaces it. */
  readonly valid: readonly (readonly [value: unknown, exact: unknown])[]
  readonly invalid: readonly (readonly [value: unknown, message: string])[]
}

const int64 = { type: 'integer', format: 'int64' } as const
const int32 = { type: 'integer', format: 'int32' } as const
const INT64_MAX = 9223372036854775807n

const CASES: readonly Case[] = [
  {
    schema: int64,
    valid: [
      [4, 4n],
      [-0, 0n],
      [INT64_MAX, INT64_MAX],
    ],
    invalid: [1.5, 2 ** 53, INT64_MAX + 1n, INEXACT, '4', true, null, {}, []].map((value) => [
      value,
      'must be an int64',
    ]),
  },
  {
    schema: { ...int64, minimum: 0, maximum: 500 },
    valid: [
      [0, 0n],
      [500n, 500n],
    ],
    invalid: [-1, 501n, '4'].map((value) => [value, 'must be an int64 from 0 to 500']),
  },
  {
    schema: int32,
    valid: [
      [4, 4],
      [-0, 0],
      [-(2 ** 31), -(2 ** 31)],
      [2147483647n, 2147483647],
    ],
    invalid: [2 ** 31, -2147483649n, 1.5, INEXACT, null].map((value) => [
      value,
      'must be an int32',
    ]),
  },
  {
    schema: { ...int32, minimum: -1 },
    valid: [[-1, -1]],
    invalid: [[-2, 'must be an int32 of at least -1']],
  },
  {
    schema: { ...int32, maximum: 9 },
    valid: [[9, 9]],
    invalid: [[10, 'must be an int32 of at most 9']],
  },
  {
    schema: { type: 'number' },
    valid: [
      [0.1, 0.1],
      [-0, 0],
      [1e300, 1e300],
    ],
    invalid: [
      [INEXACT, DOUBLE],
      ...[4n, Number.NaN, Number.POSITIVE_INFINITY, '4', null].map(
        (value) => [value, 'must be a number'] as const,
      ),
    ],
  },
  {
    schema: { type: 'number', minimum: 0, maximum: 9.5 },
    valid: [[9.5, 9.5]],
    invalid: [
      [9.6, 'must be a number from 0 to 9.5'],
      [-0.1, 'must be a number from 0 to 9.5'],
      [INEXACT, DOUBLE],
    ],
  },
  {
    schema: { type: 'boolean' },
    valid: [
      [true, true],
      [false, false],
    ],
    invalid: ['true', 0, null].map((value) => [value, 'must be boolean']),
  },
  {
    schema: { type: 'string' },
    valid: [['', '']],
    invalid: [
      [1, 'must be string'],
      [null, 'must be string'],
      ['\0', 'must not contain U+0000 or a lone surrogate'],
      ['\ud800', 'must not contain U+0000 or a lone surrogate'],
    ],
  },
  {
    schema: { type: 'string', minLength: 2, maxLength: 3 },
    valid: [
      ['ab', 'ab'],
      ['🌲🌲🌲', '🌲🌲🌲'],
    ],
    invalid: [
      ['🌲', 'must have 2 or more characters'],
      ['abcd', 'must have 3 or fewer characters'],
    ],
  },
  {
    schema: { type: 'string', enum: ['sun', 'half-shade', 'shade'] },
    valid: [['shade', 'shade']],
    invalid: [
      ['Sun', 'must be sun, half-shade or shade'],
      [1, 'must be sun, half-shade or shade'],
    ],
  },
  {
    schema: { type: 'string', format: 'date' },
    valid: [['2026-11-25', '2026-11-25']],
    invalid: [
      ['2026-02-30', 'must be a date such as 2026-11-25'],
      ['', 'must be a date such as 2026-11-25'],
    ],
  },
]

const compileBody = bodyCompiler()

for (const { schema, valid, invalid } of CASES) {
  const { type, ...keywords } = schema
  const title = `${type} ${JSON.stringify(keywords)}`

  t.test(`${title}: valid values become exact, and others are explained`, async (t) => {
    const validate = compileBody({ type: 'object', properties: { value: { ...schema } } })
    const describe = fieldValidator(schema)
    for (const [value, exact] of valid) {
      const body = { value }
      t.ok(validate(body), String(value))
      t.ok(Object.is(body.value, exact), `${String(value)} becomes ${String(exact)}`)
      t.equal(describe(value), undefined)
    }
    for (const [value, message] of invalid) {
      t.notOk(validate({ value }), String(value))
      t.match(validate.errors, [{ instancePath: '/value', message }])
      t.equal(describe(value), message)
    }
  })

  t.test(`${title}: null is valid in a patch`, async (t) => {
    const nullable: Schema = {
      ...schema,
      type: [type, 'null'],
      ...(schema.enum !== undefined && { enum: [...schema.enum, null] }),
    }
    const validate = compileBody({ type: 'object', properties: { value: nullable } })
    for (const value of [null, ...valid.map(([value]) => value)]) t.ok(validate({ value }))
    for (const [value] of invalid.filter(([value]) => value !== null)) t.notOk(validate({ value }))
  })
}

t.test('the message for a patch says that null is valid', async (t) => {
  for (const [schema, message] of [
    [{ ...int64, minimum: 0, maximum: 500 }, 'must be an int64 from 0 to 500 or null'],
    [{ type: 'number' }, 'must be a number or null'],
    [{ type: 'string', enum: ['sun', null] }, 'must be sun or null'],
  ] as const) {
    const type = [schema.type, 'null']
    const validate = compileBody({ type: 'object', properties: { value: { ...schema, type } } })
    t.notOk(validate({ value: schema.type === 'string' ? 'x' : false }))
    t.match(validate.errors, [{ message }])
  }
})

/** The contract with own fields. */
function extended(fields: Readonly<Record<string, Schema>>) {
  const document = structuredClone(loadContract())
  for (const name of ['Plant', 'PlantPatch', 'PlantUpdate']) {
    const { [name]: schema } = document.components.schemas
    Object.assign(known(schema?.properties), fields)
  }
  return document
}

/** Names that objects inherit or that schemas use as keywords. */
const NAMES = ['constructor', 'hasOwnProperty', 'type', 'properties', '$ref', 'a/b~"\\', 'Größe']

t.test('own fields can have any name', async (t) => {
  const isKnown = compileComponent(loadContract(), 'PlantChange')
  for (const name of NAMES) {
    const document = extended({ [name]: { ...int32 } })
    const isNewPlant = compileComponent(document, 'NewPlant')
    const plant = { id: 4, name: 'Abies', [name]: 1 }
    t.ok(isNewPlant({ id: 4, name: 'Abies' }), `without ${name}`)
    t.ok(isNewPlant(plant), name)
    t.strictSame(plant, { id: 4n, name: 'Abies', [name]: 1 })
    t.notOk(isNewPlant({ ...plant, [name]: 'x' }))
    t.match(isNewPlant.errors, [{ message: 'must be an int32' }])
    const isChange = compileComponent(document, 'PlantChange')
    for (const op of ['create', 'replace', 'update']) {
      t.ok(isChange({ op, id: 4, name: 'Abies', [name]: 1 }), `${op} with ${name}`)
      t.ok(isChange({ op, id: 4, name: 'Abies' }), `${op} without ${name}`)
      t.notOk(isChange({ op, id: 4, name: 'Abies', [name]: 'x' }))
    }
    t.notOk(isChange({ op: 'remove', id: 4, [name]: 1 }))
    t.notOk(isKnown({ op: 'create', id: 4, name: 'Abies', [name]: null }), 'without the field')
  }
})

t.test('schemas with and without inherited names are compiled by the same compiler', async (t) => {
  const compile = bodyCompiler()
  for (const name of ['constructor', 'height', 'toString']) {
    const validate = compile({ type: 'object', properties: { [name]: { ...int32 } } })
    t.ok(validate({}), name)
    t.ok(validate({ [name]: 4 }), name)
    t.notOk(validate({ [name]: 'x' }), name)
  }
})

t.test('parameters are exact numbers in decimal', async (t) => {
  const validate = parameterCompiler()({
    type: 'object',
    properties: {
      id: int64,
      limit: { ...int32, minimum: 1, maximum: 1000 },
      n: { type: 'number' },
    },
  })
  const parameters = { id: '-4', limit: '1000', n: '-1.5e-7' }
  t.ok(validate(parameters))
  t.strictSame(parameters, { id: -4n, limit: 1000, n: -1.5e-7 })
  for (const [invalid, message] of [
    [{ id: '4.0' }, 'must be an int64 in decimal'],
    [{ id: '9223372036854775808' }, 'must be an int64 in decimal'],
    [{ limit: '0' }, 'must be an integer from 1 to 1000'],
    [{ limit: '1001' }, 'must be an integer from 1 to 1000'],
    [{ limit: '4294967297' }, 'must be an integer from 1 to 1000'],
    [{ limit: 'x' }, 'must be an integer from 1 to 1000'],
    ...['', 'x', ' 1', '+1', '1e309', '0.12345678901234567890'].map(
      (n) => [{ n }, 'must be a number that a double preserves'] as const,
    ),
  ] as const) {
    t.notOk(validate({ ...invalid }))
    t.match(validate.errors, [{ message }])
  }
})
