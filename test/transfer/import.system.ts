import t from 'tap'
import { known } from '../../core/known.ts'
import { members } from '../../core/members/members.gen.ts'
import { importRecords, newCounts, TRANSACTION_RECORDS } from '../../src/transfer/import.ts'
import type { ImportStore } from '../../src/transfer/import-changes.ts'
import type { RecordBatch } from '../../src/transfer/record.ts'
import { FreeIds, matchIds, REMEMBERED_IDS } from '../../src/transfer/record-ids.ts'
import { pageWith } from '../stores/plants.ts'

t.test('a stated number of ids is remembered, across transactions', async (t) => {
  const store: ImportStore = {
    find: async () => new Map(),
    apply: async (changes) => changes.map(() => 'created'),
  }
  const repeated: string[] = []
  const plants = Array.from({ length: REMEMBERED_IDS + 1 }, (_, id) => ({
    id: BigInt(id),
    name: '',
  }))
  const results = [...plants, ...plants.slice(-2)]
  async function* batches(): AsyncGenerator<RecordBatch, void> {
    const records = results.map((result, index) => ({ number: index + 1, result }))
    for (let at = 0; at < records.length; at += TRANSACTION_RECORDS) {
      yield { records: records.slice(at, at + TRANSACTION_RECORDS), endByte: at }
    }
  }
  await importRecords(batches(), {
    store,
    members,
    onConflict: 'stop',
    onError: 'stop',
    counts: newCounts(),
    locate: (number) => `line ${number}`,
    onRefused: () => {},
    onRepeated: (where, message) => repeated.push(`${where}: ${message}`),
    onProgress: () => {},
  })
  const last = plants.length - 1
  t.strictSame(repeated, [
    `line ${plants.length + 1}: repeats id ${last - 1} of line ${last} (replayed)`,
  ])
})

/** The ids of records that match by name, in a store with some plants. */
async function byName(plants: number) {
  async function* exportPlants() {
    yield Array.from({ length: plants }, (_, id) => ({ id: BigInt(id), name: String(id) }))
  }
  const locate = (number: number) => `line ${number}`
  const { signal } = new AbortController()
  const free = await FreeIds.open({ list: async () => pageWith([]) }, members)
  const member = known(members.find(({ name }) => name === 'name'))
  return matchIds({ member, store: { exportPlants }, free, locate, signal })
}

t.test('a stated number of values is matched', async (t) => {
  await t.rejects(byName(REMEMBERED_IDS + 1), {
    message: 'cannot match by name: the plants have more than 1,048,576 values of it; import by id',
  })
  const ids = await byName(0)
  for (let number = 1; number <= REMEMBERED_IDS; number++) ids.find({ name: `${number}` }, number)
  t.equal(ids.find({ name: 'x' }, 0), 'follows 1,048,576 values of name')
  t.equal(ids.find({ name: '1' }, 0), 'repeats name "1" of line 1')
})
