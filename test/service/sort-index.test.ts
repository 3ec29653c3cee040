import fc from 'fast-check'
import t from 'tap'
import type { Member } from '../../core/members/members.ts'
import type { FieldSchema } from '../../core/members/own-fields.ts'
import { SORTED_CHARACTERS } from '../../core/members/sort-key.ts'
import { hasSameKeys, readIndex, sortKey, writeIndex } from '../../service/store/sort-index.ts'
import { storable } from '../helpers/plants/arbitraries.ts'

const NAME: Member = { name: 'name', type: 'string', isRequired: true }

const nameKey = (name: string) => sortKey(NAME, { name })

const fieldKey = (type: Member['type'], schema: FieldSchema, json: string) =>
  sortKey(
    { name: 'x', type, isRequired: false, schema },
    { name: '', fields: `"w":1,"x":${json},"y":"x"` },
  )

t.test('text is in the order that people expect', (t) => {
  const names = [
    '',
    '1 10',
    '1 9',
    'Abelia × grandiflora',
    'abelia x grandiflora',
    'Abies',
    'abies',
    'ÁBIES',
    'Abies alba',
    'Łódź',
    'lodz',
    'Müller',
    'muller',
    'O’Hara',
    "O'Hara",
    'Ømer',
    'omer',
    'Strasse',
    'Straße',
    'strasse',
    'Ὀρχις',
    '木',
    '\u{1f331}',
  ]
  const sorted = names.toSorted((one, other) => nameKey(one).compare(nameKey(other)))
  const folds = ['Abies', 'abies', 'ÁBIES'].map((name) => sorted.indexOf(name))
  t.same(folds.toSorted(), [
    sorted.indexOf('Abies'),
    sorted.indexOf('Abies') + 1,
    sorted.indexOf('Abies') + 2,
  ])
  t.ok(sorted.indexOf('ÁBIES') < sorted.indexOf('Abies alba'))
  t.ok(
    sorted.indexOf('Straße') > sorted.indexOf('Ømer') &&
      sorted.indexOf('Straße') < sorted.indexOf('木'),
  )
  t.equal(sorted[0], '')
  t.equal(sorted.at(-1), '\u{1f331}')
  t.end()
})

t.test('different texts have different keys, which are bounded', async (t) => {
  fc.assert(
    fc.property(storable, storable, (one, other) => {
      const isSame =
        Array.from(one).slice(0, SORTED_CHARACTERS).join('') ===
        Array.from(other).slice(0, SORTED_CHARACTERS).join('')
      return (nameKey(one).compare(nameKey(other)) === 0) === isSame
    }),
  )
  for (const character of ['a', '\u{1f331}', 'ﷺ', '\u0390', 'ß']) {
    t.ok(nameKey(character.repeat(1e5)).length <= 8 * SORTED_CHARACTERS + 1)
  }
  const time = `"2026-01-01T00:00:00.${'1'.repeat(1e5)}Z"`
  t.equal(
    fieldKey('string', { type: 'string', format: 'date-time' }, time).length,
    SORTED_CHARACTERS,
  )
})

const INT64: FieldSchema = { type: 'integer', format: 'int64' }

for (const [what, type, schema, values] of [
  [
    'int64',
    'int64',
    INT64,
    ['-9223372036854775808', '-2', '-1', '0', '1', '9007199254740993', '9223372036854775807'],
  ],
  [
    'int32',
    'int32',
    { type: 'integer', format: 'int32' },
    ['-2147483648', '-1', '0', '7', '2147483647'],
  ],
  [
    'number',
    'number',
    { type: 'number' },
    ['-1e308', '-2.5', '-1e-7', '0', '5e-324', '0.1', '1e21', '1.7976931348623157e308'],
  ],
  ['boolean', 'boolean', { type: 'boolean' }, ['false', 'true']],
  [
    'date',
    'string',
    { type: 'string', format: 'date' },
    ['"0001-01-01"', '"2026-02-28"', '"2026-11-03"'],
  ],
  [
    'date-time',
    'string',
    { type: 'string', format: 'date-time' },
    [
      '"2026-01-01T00:00:00+01:00"',
      '"2025-12-31T23:59:60Z"',
      '"2026-01-01T00:00:00Z"',
      '"2026-01-01T00:00:00.05Z"',
      '"2026-01-01T00:00:00.5Z"',
    ],
  ],
] as const) {
  t.test(`the keys of values of the type ${what} are in the order of the values`, async (t) => {
    const keys = values.map((json) => fieldKey(type, schema, json))
    t.same(keys.toSorted(Buffer.compare), keys)
    t.equal(new Set(keys.map((key) => key.toString('hex'))).size, keys.length)
    t.equal(fieldKey(type, schema, '{}').length, 0, 'any other value is none')
  })
}

t.test('equal values have the same key', async (t) => {
  const same: [Member['type'], FieldSchema, string, string][] = [
    ['number', { type: 'number' }, '0', '-0'],
    [
      'string',
      { type: 'string', format: 'date-time' },
      '"2026-01-01T00:00:00Z"',
      '"2026-01-01T02:00:00.000+02:00"',
    ],
  ]
  for (const [type, schema, one, other] of same)
    t.same(fieldKey(type, schema, one), fieldKey(type, schema, other))
})

t.test('a record has what the keys depend on', async (t) => {
  const member: Member = {
    name: 'x',
    type: 'string',
    isRequired: false,
    schema: { type: 'string', format: 'date', title: 'X' },
  }
  const index = { member, number: 7, isComplete: false, upTo: -(2n ** 63n) }
  const read = readIndex({ key: 'x', value: writeIndex(index) })
  t.match(read, { number: 7, isComplete: false, upTo: index.upTo })
  t.ok(hasSameKeys(read.member, member))
  t.notOk(hasSameKeys(read.member, { ...member, schema: { type: 'string' } }))
})
