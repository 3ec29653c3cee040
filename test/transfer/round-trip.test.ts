/** What is exported is imported unchanged, whatever the own fields and their values. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { extendContract, loadContract, plantMembers } from '../../core/contract/contract.ts'
import { describeRecords } from '../../core/files/record-formats.ts'
import { type RecordValues, toNewPlant } from '../../core/files/record-mapper.ts'
import { INT64_MAX, INT64_MIN } from '../../core/json/int64.ts'
import type { MemberType, MemberValue } from '../../core/members/members.ts'
import type { FieldSchema, OwnField } from '../../core/members/own-fields.ts'
import { PlantCodec } from '../../service/plant-codec.ts'
import type { NewPlant, StoredPlant } from '../../service/store/plant-store.ts'
import { formatPlants } from '../../src/transfer/format.ts'
import { openRecords } from '../../src/transfer/record-batches.ts'
import { storable } from '../helpers/plants/arbitraries.ts'
import { runs } from '../helpers/plants/runs.ts'

interface Kind {
  readonly schema: FieldSchema
  readonly values: fc.Arbitrary<MemberValue>
}

const KINDS: { readonly [Type in MemberType]: Kind } = {
  int64: {
    schema: { type: 'integer', format: 'int64' },
    values: fc.oneof(
      fc.bigInt({ min: INT64_MIN, max: INT64_MAX }),
      fc.constantFrom(INT64_MIN, INT64_MAX, 2n ** 53n + 1n),
    ),
  },
  int32: { schema: { type: 'integer', format: 'int32' }, values: fc.integer() },
  number: {
    schema: { type: 'number' },
    values: fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom(0.1, -0, 1e21, 2 ** 63, 123456789012345680, Number.MIN_VALUE),
    ),
  },
  boolean: { schema: { type: 'boolean' }, values: fc.boolean() },
  string: {
    schema: { type: 'string' },
    values: fc.oneof(storable, fc.constantFrom('', '"', ',', '\r\n', ' ', '\ufeff', 'true', '1')),
  },
}

const UNUSUAL_NAMES = [
  'constructor',
  'toString',
  'id2',
  'fields',
  '1',
  'a,b',
  '"',
  ';',
  ' x ',
  '/~',
]

const fieldName = fc
  .oneof(storable, fc.constantFrom(...UNUSUAL_NAMES))
  .filter((name) => /^\P{Cc}+$/u.test(name) && !['id', 'name', 'tag', '__proto__'].includes(name))

const field = fc.record({ name: fieldName, kind: fc.constantFrom(...Object.values(KINDS)) })

/** Some fields, and plants that have some of them. */
const extended = fc
  .uniqueArray(field, { selector: ({ name }) => name, maxLength: 8 })
  .chain((given) => {
    const members = Object.fromEntries(given.map(({ name, kind }) => [name, kind.values]))
    const content = { id: KINDS.int64.values, name: storable, tag: storable, ...members }
    const plant = fc.record(content, { requiredKeys: ['id', 'name'], noNullPrototype: true })
    const fields: OwnField[] = given.map(({ name, kind }) => ({ name, schema: kind.schema }))
    return fc.record({ fields: fc.constant(fields), plants: fc.array(plant, { maxLength: 5 }) })
  })

for (const format of ['ndjson', 'csv'] as const) {
  t.test(`${format}: an import of an export is the same`, async () => {
    await fc.assert(
      fc.asyncProperty(extended, async ({ fields, plants }) => {
        const contract = extendContract(loadContract(), fields)
        const members = plantMembers(contract)
        const codec = new PlantCodec(members)
        const given = plants.map((plant) => codec.toPlant({ ...plant, id: BigInt(plant.id) }))
        async function* batches(): AsyncGenerator<StoredPlant[]> {
          yield given.map(({ clears: _, ...plant }) => plant)
        }
        const toPlant = (values: RecordValues | string | undefined) => {
          const plant = typeof values === 'object' ? toNewPlant(members, values) : values
          return typeof plant === 'object' ? codec.toPlant(plant) : plant
        }
        const { recordFormats } = describeRecords(members)
        async function* chunks() {
          for await (const text of formatPlants(
            batches(),
            recordFormats[format],
            codec,
            () => {},
          )) {
            yield Buffer.from(text)
          }
        }
        const read: (NewPlant | string | undefined)[] = []
        const source = await openRecords(chunks(), { file: `plants.${format}`, members })
        for await (const { records } of source.batches) {
          for (const { result } of records) read.push(toPlant(result))
        }
        assert.deepEqual(read, given)
      }),
      { numRuns: runs(100) },
    )
  })
}
