import fc from 'fast-check'
import t from 'tap'
import {
  extendContract,
  loadContract,
  ownFields,
  plantMembers,
} from '../../core/contract/contract.ts'
import type { MemberValue } from '../../core/members/members.ts'
import type { OwnField } from '../../core/members/own-fields.ts'
import { PlantCodec } from '../../service/plant-codec.ts'
import { mergeFields, readFields, writeFields } from '../../service/store/plant-content.ts'

const FIELDS: readonly OwnField[] = [
  { name: 'serial', schema: { type: 'integer', format: 'int64' } },
  { name: 'height', schema: { type: 'integer', format: 'int32' } },
  { name: 'price', schema: { type: 'number' } },
  { name: 'inStock', schema: { type: 'boolean' } },
  { name: 'light', schema: { type: 'string', enum: ['sun', 'shade'] } },
  { name: 'constructor', schema: { type: 'string' } },
  { name: '0', schema: { type: 'string' } },
  { name: 'Höhe "1"\n', schema: { type: 'string' } },
]

const members = plantMembers(extendContract(loadContract(), FIELDS))
const codec = new PlantCodec(members)

const VALUES = new Map<string, fc.Arbitrary<MemberValue>>(
  Object.entries({
    serial: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    height: fc.integer(),
    price: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
    inStock: fc.boolean(),
    light: fc.constantFrom('sun', 'shade'),
  }),
)

/** The own fields of a plant in the API. */
const values = fc
  .record(
    Object.fromEntries(
      FIELDS.map(({ name }) => [name, VALUES.get(name) ?? fc.string({ unit: 'grapheme' })]),
    ),
    { requiredKeys: [] },
  )
  .map((own) => ({ name: 'Abies', ...own }))

t.test('the contract of plants with own fields has them, in their order', async (t) => {
  const contract = extendContract(loadContract(), FIELDS)
  t.same(ownFields(contract), FIELDS)
  t.same(ownFields(loadContract()), [])
  t.equal(extendContract(loadContract(), []), loadContract())
  t.same(
    members.map(({ name, type }) => [name, type]),
    [
      ['id', 'int64'],
      ['name', 'string'],
      ['tag', 'string'],
      ['serial', 'int64'],
      ['height', 'int32'],
      ['price', 'number'],
      ['inStock', 'boolean'],
      ['light', 'string'],
      ['constructor', 'string'],
      ['0', 'string'],
      ['Höhe "1"\n', 'string'],
    ],
  )
  t.same(Object.keys(loadContract().components.schemas.Plant?.properties ?? {}), ['name', 'tag'])
  const { PlantPatch, PlantUpdate } = contract.components.schemas
  for (const schema of [PlantPatch, PlantUpdate]) {
    t.match(schema?.properties, {
      height: { type: ['integer', 'null'], format: 'int32' },
      light: { type: ['string', 'null'], enum: ['sun', 'shade', null] },
    })
  }
})

t.test('own fields have one canonical text, whatever the order of the members', async (t) => {
  const plant = { id: 1n, name: 'Abies', tag: 'Tree' }
  const one = codec.toPlant({ ...plant, ...{ serial: 2n ** 63n - 1n, price: -0, light: 'sun' } })
  const other = codec.toPlant({ ...{ light: 'sun', price: 0, serial: 2n ** 63n - 1n }, ...plant })
  t.equal(one.fields, '"light":"sun","price":0,"serial":9223372036854775807')
  t.same(one, other)
  t.equal(
    one.clears,
    '"0":null,"Höhe \\"1\\"\\n":null,"constructor":null,"height":null,"inStock":null',
  )
})

t.test('a plant of the API is the same after it was stored', async (t) => {
  fc.assert(
    fc.property(values, (given) => {
      const { clears: _, ...stored } = codec.toPlant({ id: 4n, ...given })
      t.same(codec.toValues(stored), { id: 4n, ...given })
      const json = JSON.parse(
        codec.plantJson(stored),
        (name, value, context?: { readonly source: string }) =>
          name === 'serial' ? BigInt(context?.source ?? '') : value,
      )
      t.same(json, { ...given, id: 4 })
    }),
  )
  t.strictSame(codec.toValues({ id: 4n, name: 'Abies', tag: '', fields: '"height":1' }), {
    id: 4n,
    name: 'Abies',
    tag: '',
    ...{ height: 1 },
  })
})

t.test('undocumented and inherited members are not stored', async (t) => {
  const plant = codec.toPlant(Object.assign({ id: 4n, name: 'Abies' }, { color: 'red' }))
  t.equal(plant.fields, undefined)
  t.match(plant.clears, /"constructor":null/)
})

t.test('a patch sets, clears and keeps own fields', async (t) => {
  const patch = codec.toPatch({ tag: null, ...{ height: 5, light: null } })
  t.same(patch, { tag: null, fields: '"height":5', clears: '"light":null' })
  t.same(codec.toPatch({ name: 'Picea' }), { name: 'Picea' })
  t.equal(mergeFields('"inStock":true,"light":"sun"', patch), '"height":5,"inStock":true')
  t.equal(mergeFields('"light":"sun"', { clears: '"light":null' }), undefined)
  t.equal(mergeFields(undefined, patch), '"height":5')
  t.equal(mergeFields('"a":1', {}), '"a":1')
})

t.test('a replacement clears what it does not have', async (t) => {
  const one = new PlantCodec(members.filter(({ name }) => name === 'height'))
  const plant = { id: 1n, name: 'Abies', tag: 'Tree' }
  t.strictSame(one.toPlant({ ...plant, ...{ height: 5 } }), { ...plant, fields: '"height":5' })
  t.strictSame(one.toPlant(plant), { ...plant, clears: '"height":null' })
  t.strictSame(one.toPatch({ height: null } as object), { clears: '"height":null' })
  t.strictSame(new PlantCodec([]).toPlant(plant), plant)
})

t.test('merging patches is the same as merging their members', async (t) => {
  const fields = fc
    .dictionary(fc.string(), fc.oneof(fc.integer(), fc.string(), fc.constant(null)))
    .map((record) => Object.entries(record).map(([name, value]) => [name, JSON.stringify(value)]))
  fc.assert(
    fc.property(fields, fields, (before, patch) => {
      const isSet = ([, json]: string[]) => json !== 'null'
      const write = (entries: string[][]) => writeFields(entries as [string, string][])
      const stored = write(before.filter(isSet))
      const clears = patch.filter((entry) => !isSet(entry))
      const merged = new Map([...before.filter(isSet), ...patch] as [string, string][])
      const expected = write([...merged].filter(isSet))
      const given = { fields: write(patch.filter(isSet)), clears: write(clears) }
      t.equal(mergeFields(stored, given), expected)
    }),
  )
})

t.test('the names and values of own fields can be read from their text', async (t) => {
  const fields: [string, string][] = [
    ['0', '"x"'],
    ['serial', '-9223372036854775808'],
    ['toString', 'true'],
  ]
  t.same(readFields(String(writeFields(fields))), fields)
})

t.test('hidden fields stay stored, and are not shown', async (t) => {
  const hiding = new PlantCodec(plantMembers(loadContract()), ['height', '0'])
  const fields = '"0":"x","height":5,"serial":9223372036854775807'
  const plant = { id: 4n, name: 'Abies', fields }
  const shown = '{"id":4,"name":"Abies","serial":9223372036854775807}'
  t.equal(hiding.plantJson(plant), shown)
  t.equal(hiding.contentJson({ name: 'Abies', fields: '"height":5' }), '{"name":"Abies"}')
  const json = codec.pageJson({ json: `[${codec.plantJson(plant)}]` as never })
  t.equal(hiding.pageJson({ json }), `[${shown}]`)
  t.same(hiding.toValues(plant), { id: 4n, name: 'Abies' })
  t.same(hiding.toPlant({ id: 4n, name: 'Abies' }), { id: 4n, name: 'Abies' })
  t.equal(codec.pageJson({ json }), json)
})

t.test('changes are formatted with the own fields of their plants', async (t) => {
  const at = '2026-11-25T00:00:00.000Z'
  const plant = { name: 'Abies', fields: '"height":5' }
  const created = { cursor: 'a', at, type: 'created', id: 4n, plant } as const
  const removed = { cursor: 'b', at, type: 'removed', id: 4n } as const
  t.equal(
    codec.changesJson([created, removed]),
    `[{"cursor":"a","at":"${at}","type":"created","id":4,"plant":{"name":"Abies","height":5}},{"cursor":"b","at":"${at}","type":"removed","id":4}]`,
  )
})
