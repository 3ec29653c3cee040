import t from 'tap'
import type { RecordValues } from '../../core/files/record-mapper.ts'
import { members } from '../../core/members/members.gen.ts'
import { importRecords, newCounts, TRANSACTION_RECORDS } from '../../src/transfer/import.ts'
import type { ImportStore } from '../../src/transfer/import-changes.ts'
import type { RecordBatch } from '../../src/transfer/record.ts'
import { REMEMBERED_IDS } from '../../src/transfer/record-ids.ts'

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
  async function* batches(): AsyncGenerator<RecordBatch<RecordValues>, void> {
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
    `line ${plants.length + 1}: repeats id ${last - 1} of line ${last} (created)`,
  ])
})
