import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { openWorkbook } from '../../../../core/files/xlsx/workbook-reader.ts'
import { writeWorkbook } from '../../../../core/files/xlsx/workbook-writer.ts'
import { known } from '../../../../core/known.ts'
import { members as baseMembers } from '../../../../core/members/members.gen.ts'
import type { Member } from '../../../../core/members/members.ts'
import { runs } from '../../../helpers/plants/runs.ts'
import { members, plants, rows } from './significant-plants.ts'
import { readFields, writePlants } from './workbooks.ts'

t.test('all values are read as they were written', async (t) => {
  t.strictSame(await readFields(await writePlants(members, plants), members.length), rows)
})

t.test('any text and any number is read as it was written', async () => {
  const values = [
    { name: 'name', type: 'string', isRequired: true },
    { name: 'number', type: 'number', isRequired: false },
  ] as const satisfies readonly Member[]
  const name = fc.string({ unit: 'binary', maxLength: 20 })
  const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0)
  const plant = fc.record({ id: fc.constant(1n), name, number }, { noNullPrototype: true })
  await fc.assert(
    fc.asyncProperty(fc.array(plant, { maxLength: 20 }), async (plants) => {
      const [, ...read] = await readFields(await writePlants(values, plants), values.length)
      assert.deepEqual(
        read.map(([name, number]) => ({ id: 1n, name, number: Number(number) })),
        plants,
      )
    }),
    { numRuns: runs(100) },
  )
})

t.test('equal plants make equal workbooks', async (t) => {
  const [one, other] = await Promise.all([
    writePlants(members, plants),
    writePlants(members, plants),
  ])
  t.ok(Buffer.from(await one.arrayBuffer()).equals(Buffer.from(await other.arrayBuffer())))
})

t.test('text that is longer than a cell is refused', async (t) => {
  await t.rejects(writePlants(baseMembers, [{ id: 5n, name: 'x'.repeat(32_768) }]), {
    message:
      'the name of plant 5 is longer than the 32,767 characters of a cell; export the plants as CSV or NDJSON',
  })
})

t.test('more plants than a sheet has rows are refused, as soon as they are read', async (t) => {
  async function* batches() {
    const batch = Array.from({ length: 2 ** 17 }, (_, id) => ({ id: BigInt(id), name: 'x' }))
    for (let count = 0; count < 8; count++) yield batch
    t.fail('more plants are read')
  }
  await t.rejects(Array.fromAsync(writeWorkbook(baseMembers, batches())), {
    message: 'a sheet has room for 1,048,575 plants; export them as CSV or NDJSON',
  })
})

t.test('an error while plants are read ends the workbook', async (t) => {
  const error = new Error('canceled')
  async function* batches() {
    yield [{ id: 1n, name: 'x' }]
    throw error
  }
  await t.rejects(Array.fromAsync(writeWorkbook(baseMembers, batches())), error)
})

t.test('33,000 plants are written and read in parts', async (t) => {
  const count = 33_000
  async function* batches() {
    for (let id = 0; id < count; id += 1000) {
      yield Array.from({ length: 1000 }, (_, index) => ({
        id: BigInt(id + index),
        name: `Abies ${index}`,
      }))
    }
  }
  const parts = await Array.fromAsync(writeWorkbook(baseMembers, batches()))
  t.ok(parts.length > 10)
  const [sheet] = await openWorkbook(new Blob(parts))
  let read = 0
  for await (const { number, values } of known(sheet).records()) {
    if (number > 1 && values[0] === String(number - 2)) read += 1
  }
  t.equal(read, count)
})
