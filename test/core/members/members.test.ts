import fc from 'fast-check'
import t from 'tap'
import {
  type ContractDocument,
  loadContract,
  plantMembers,
} from '../../../core/contract/contract.ts'
import { INT64_MAX, INT64_MIN } from '../../../core/json/int64.ts'
import { members } from '../../../core/members/members.gen.ts'
import {
  isValueOf,
  type Member,
  type MemberType,
  type MemberValue,
  readText,
  writeJson,
  writeText,
} from '../../../core/members/members.ts'
import { describePlants } from '../../../core/members/plant.ts'
import { anyText } from '../../helpers/plants/arbitraries.ts'

t.test('the members of a plant are those of the contract, in its order', async (t) => {
  t.same(plantMembers(loadContract()), members)
  t.same(members, [
    { name: 'id', type: 'int64', isRequired: true },
    { name: 'name', type: 'string', isRequired: true },
    { name: 'tag', type: 'string', isRequired: false },
  ])
})

t.test('a contract whose plants have a member of another type is refused', async (t) => {
  const schemas = { StoredPlant: { properties: { photos: { type: 'array' } } } }
  const document = { components: { schemas } } as unknown as ContractDocument
  t.throws(() => plantMembers(document), { message: 'plants: photos has the type array' })
})

const VALUES: { readonly [Type in MemberType]: fc.Arbitrary<MemberValue> } = {
  int64: fc.bigInt({ min: INT64_MIN, max: INT64_MAX }),
  int32: fc.integer(),
  number: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
  boolean: fc.boolean(),
  string: anyText(),
}

for (const [type, values] of Object.entries(VALUES) as [MemberType, fc.Arbitrary<MemberValue>][]) {
  const member: Member = { name: 'member', type, isRequired: true }

  t.test(`a value of type ${type} is read from the text that is written for it`, async (t) => {
    fc.assert(
      fc.property(values, (value) => {
        t.ok(isValueOf(member, value))
        return readText(member, writeText(value)) === value
      }),
    )
  })
}

t.test('a boolean is read in the spelling of spreadsheets', async (t) => {
  const member: Member = { name: 'inStock', type: 'boolean', isRequired: false }
  t.equal(readText(member, 'TRUE'), true)
  t.equal(readText(member, 'False'), false)
})

t.test('plants with other members follow their description', async (t) => {
  const described: readonly Member[] = [
    ...members,
    { name: 'soil', type: 'string', isRequired: false },
  ]
  const plants = describePlants(described)
  const plant = { id: 4n, name: 'Abies', soil: '"loam"', unknown: 'x' }
  const other = { ...plant, soil: 'clay' }
  const same = { ...plant, unknown: 'y' }
  t.notOk(plants.hasSameContent(plant, other))
  t.ok(plants.hasSameContent(plant, same))
  t.equal(plants.plantJson(plant), '{"id":4,"name":"Abies","soil":"\\"loam\\""}')
  t.same(plants.pickContent(plant), { name: 'Abies', soil: '"loam"' })
  t.equal(plants.textLength(plant), 11)
  t.same(plants.toFields(plant), ['4', 'Abies', undefined, '"loam"'])
})

const NO_VALUES: readonly [type: MemberType, ...texts: string[]][] = [
  ['int64', '', ' 1', '1.0', '01', 'x', `${INT64_MAX + 1n}`, `${INT64_MIN - 1n}`],
  ['int32', '', '1.5', 'x', '2147483648', '-2147483649', '9223372036854775807'],
  ['number', '', ' 1', '1,5', '01', '1e309', 'NaN', '0.12345678901234567890'],
  ['boolean', '', ' true', '1', 'yes'],
]
for (const [type, ...texts] of NO_VALUES) {
  t.test(`text that is not a value of type ${type} is not read`, async (t) => {
    const member: Member = { name: 'member', type, isRequired: false }
    for (const text of texts) t.equal(readText(member, text), undefined, text)
  })
}

t.test('a value is written as JSON', async (t) => {
  for (const [value, json] of [
    [INT64_MAX, '9223372036854775807'],
    [24.5, '24.5'],
    [true, 'true'],
    ['"', '"\\""'],
  ] as const)
    t.equal(writeJson(value), json)
})
