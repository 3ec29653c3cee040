import t from 'tap'
import { FieldError, readFieldSchema } from '../../../../core/contract/overlay/field-schemas.ts'

const valid: readonly object[] = [
  { type: 'string', title: 'Light', description: 'How much light it needs.', examples: ['sun'] },
  { type: 'string', minLength: 3, maxLength: 5, enum: ['sun', 'shade'], examples: ['shade'] },
  { type: 'string', format: 'date', examples: ['2026-11-25'] },
  { type: 'string', format: 'date-time' },
  { type: 'string', format: 'uri', enum: ['https://example.com', 'urn:x'] },
  { type: 'string', format: 'email' },
  { type: 'integer', format: 'int32', minimum: -(2 ** 31), maximum: 2 ** 31 - 1, examples: [4] },
  { type: 'integer', format: 'int64', minimum: Number.MIN_SAFE_INTEGER, examples: [] },
  { type: 'number', minimum: 0.1, maximum: 1e300, examples: [0.5, 1] },
  { type: 'boolean', examples: [true, false] },
]

t.test('a supported schema is returned as it is', async (t) => {
  for (const schema of valid) {
    const field = readFieldSchema('properties', 'light', schema)
    t.strictSame(field, { name: 'light', schema })
    t.not(field.schema, schema)
  }
})

const string = { type: 'string' }
const int32 = { type: 'integer', format: 'int32' }
const int64 = { type: 'integer', format: 'int64' }
const number = { type: 'number' }
const TEXT = 'must be a string without U+0000 and lone surrogates'
const SAFE = 'must be an integer from -9007199254740991 to 9007199254740991'
const INT32 = 'must be an integer from -2147483648 to 2147483647'
const LENGTH = 'must be an integer from 0 to 9007199254740991'
const TYPES = 'must be string, integer, number or boolean'

const invalid: readonly [schema: unknown, place: string, reason: string][] = [
  [null, '', 'must be a schema'],
  ['string', '', 'must be a schema'],
  [[string], '', 'must be a schema'],
  [{ type: 'object' }, '/type', TYPES],
  [{ type: ['string', 'null'] }, '/type', TYPES],
  [
    { ...string, pattern: '^a' },
    '/pattern',
    'not supported: a field of the type string can only have type, title, description, examples, x-sortable, format, minLength, maxLength, enum',
  ],
  [
    { ...int32, maxLength: 4 },
    '/maxLength',
    'not supported: a field of the type integer can only have type, title, description, examples, x-sortable, format, minimum, maximum',
  ],
  [
    { ...number, format: 'double' },
    '/format',
    'not supported: a field of the type number can only have type, title, description, examples, x-sortable, minimum, maximum',
  ],
  [
    { type: 'boolean', 'a/b~': 1 },
    '/a~1b~0',
    'not supported: a field of the type boolean can only have type, title, description, examples, x-sortable',
  ],
  [{ ...string, title: 'a\0' }, '/title', TEXT],
  [{ ...string, description: null }, '/description', TEXT],
  [{ type: 'boolean', description: '\ud800' }, '/description', TEXT],
  [{ ...string, format: 'time' }, '/format', 'must be date, date-time, uri or email'],
  [{ ...string, minLength: -1 }, '/minLength', LENGTH],
  [{ ...string, maxLength: 1.5 }, '/maxLength', LENGTH],
  [{ ...string, minLength: 5, maxLength: 4 }, '/minLength', 'must not exceed maxLength'],
  [{ ...string, enum: [] }, '/enum', 'must be a list of one or more strings'],
  [{ ...string, enum: 'sun' }, '/enum', 'must be a list of one or more strings'],
  [{ ...string, enum: ['sun', 1] }, '/enum/1', 'must be string'],
  [{ ...string, enum: ['sun', 'shade', 'sun'] }, '/enum/2', 'is repeated'],
  [{ ...string, enum: ['a\0'] }, '/enum/0', 'must not contain U+0000 or a lone surrogate'],
  [{ ...string, maxLength: 2, enum: ['sun'] }, '/enum/0', 'must have 2 or fewer characters'],
  [{ ...string, format: 'date', enum: ['x'] }, '/enum/0', 'must be a date such as 2026-11-25'],
  [{ type: 'integer' }, '/format', 'must be int32 or int64'],
  [{ ...int32, minimum: -(2 ** 31) - 1 }, '/minimum', INT32],
  [{ ...int32, maximum: 2 ** 31 }, '/maximum', INT32],
  [{ ...int64, minimum: -(2 ** 53) }, '/minimum', SAFE],
  [{ ...int64, maximum: 2 ** 53 }, '/maximum', SAFE],
  [{ ...int64, minimum: 5, maximum: 4 }, '/minimum', 'must not exceed maximum'],
  [{ ...number, minimum: Number.NaN }, '/minimum', 'must be a number'],
  [{ ...number, maximum: Number.POSITIVE_INFINITY }, '/maximum', 'must be a number'],
  [{ ...number, minimum: 0.2, maximum: 0.1 }, '/minimum', 'must not exceed maximum'],
  [{ ...string, examples: 'sun' }, '/examples', 'must be a list'],
  [{ ...string, examples: ['sun', 4] }, '/examples/1', 'must be string'],
  [{ ...string, enum: ['sun'], examples: ['shade'] }, '/examples/0', 'must be sun'],
  [{ ...int32, maximum: 4, examples: [5] }, '/examples/0', 'must be an int32 of at most 4'],
  [{ ...number, examples: [Number.NaN] }, '/examples/0', 'must be a number'],
]

t.test('any other schema is refused with its place and the reason', async (t) => {
  for (const [schema, place, reason] of invalid) {
    t.throws(() => readFieldSchema('actions/0', 'height', schema), {
      constructor: FieldError,
      message: `actions/0/height${place}: ${reason}`,
    })
  }
})

t.test('a name can have any 1 to 100 characters', async (t) => {
  const names = ['a', ' ', '1', 'constructor', 'ID', 'type', 'Größe', 'a/b', '"', '🌲'.repeat(100)]
  for (const name of names) t.equal(readFieldSchema('', name, string).name, name)
})

t.test('names of other members and of keywords are reserved', async (t) => {
  for (const name of [
    'id',
    'name',
    'tag',
    'op',
    'ifMatch',
    'ifContent',
    '__proto__',
    '$ref',
    '$id',
    '$',
  ]) {
    const message = `p/${name}: this name is reserved`
    t.throws(() => readFieldSchema('p', name, string), { constructor: FieldError, message })
  }
})

t.test('other names are refused', async (t) => {
  for (const [name, quoted] of [
    ['', '""'],
    ['a'.repeat(101), `"${'a'.repeat(50)}"`],
    ['🌲'.repeat(101), `"${'🌲'.repeat(25)}"`],
    ['a\n', '"a\\n"'],
    ['\u0085', '"\u0085"'],
    ['\0', '"\\u0000"'],
    ['\ud800', '"\\ud800"'],
  ] as const) {
    const message = `p: ${quoted} is not a name: it must have 1 to 100 characters, without control characters and lone surrogates`
    t.throws(() => readFieldSchema('p', name, string), { constructor: FieldError, message })
  }
})

t.test(
  'an error has the place and the reason, unless the place is the document itself',
  async (t) => {
    const inside = new FieldError('info/title', 'must be a string')
    t.match(inside, { place: 'info/title', reason: 'must be a string' })
    t.equal(inside.message, 'info/title: must be a string')
    t.equal(new FieldError('', 'must be an object').message, 'must be an object')
  },
)
