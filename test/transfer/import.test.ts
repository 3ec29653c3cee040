import t, { type Test } from 'tap'
import type { RecordValues } from '../../core/files/record-mapper.ts'
import { members } from '../../core/members/members.gen.ts'
import type { NewPlant } from '../../service/store/plant-store.ts'
import { SqliteStore } from '../../src/stores/sqlite/sqlite-store.ts'
import {
  type Counts,
  importRecords,
  newCounts,
  type RecordImportOptions,
  TRANSACTION_RECORDS,
} from '../../src/transfer/import.ts'
import { importStore } from '../../src/transfer/import-changes.ts'
import type { RecordBatch } from '../../src/transfer/record.ts'
import { IgnoredMembers, NAMES_MAX } from '../../src/transfer/unknown-fields.ts'
import { createIn } from '../helpers/plants/single-changes.ts'

/** Imports records, one per line, into a new store that already contains some plants. */
async function importLines(
  t: Test,
  results: readonly (RecordValues | string | undefined)[],
  options: Partial<RecordImportOptions> = {},
  lineBytes = 1,
  earlier: readonly NewPlant[] = [one],
) {
  const store = new SqliteStore({ file: ':memory:', lockTimeout: 0 })
  t.teardown(() => store.close())
  for (const plant of earlier) await createIn(store, plant)
  const sizes: number[] = []
  const apply: SqliteStore['apply'] = (changes, mode) => {
    sizes.push(changes.length)
    return store.apply(changes, mode)
  }
  async function* batches(): AsyncGenerator<RecordBatch, void> {
    for (const [index, result] of results.entries()) {
      const number = index + 1
      yield { records: [{ number, result }], endByte: number * lineBytes }
    }
  }
  const refused: string[] = []
  const repeated: string[] = []
  const progress: number[] = []
  const counts = newCounts()
  const complete = await importRecords(batches(), {
    store: { ...importStore(store, members), apply },
    members,
    onConflict: 'stop',
    onError: 'stop',
    counts,
    locate: (line) => `line ${line}`,
    onRefused: (where, reason) => refused.push(`${where}: ${reason}`),
    onRepeated: (where, message) => repeated.push(`${where}: ${message}`),
    onProgress: (bytes) => progress.push(bytes),
    ...options,
  })
  const stored = (await Array.fromAsync(store.exportPlants())).flat()
  return { complete, counts, refused, repeated, progress, sizes, stored }
}

const one = { id: 1n, name: 'one' }
const other = { id: 1n, name: 'other' }
const two = { id: 2n, name: 'two', tag: '' }
const three = { id: 3n, name: 'three' }
const CONFLICT = 'plant 1 already exists with different content'

interface Case {
  readonly what: string
  readonly results: readonly (RecordValues | string | undefined)[]
  readonly options?: Partial<RecordImportOptions>
  readonly complete: boolean
  readonly counts: Partial<Counts>
  readonly refused?: readonly string[]
  readonly stored: readonly NewPlant[]
  readonly repeated?: readonly string[]
}

const cases: Case[] = [
  { what: 'an empty file stores nothing', results: [], complete: true, counts: {}, stored: [one] },
  {
    what: 'new plants are created and stored ones are replayed',
    results: [two, one, two],
    complete: true,
    counts: { created: 1, replayed: 2 },
    repeated: ['line 3: repeats id 2 of line 1 (replayed)'],
    stored: [one, two],
  },
  {
    what: 'a record that repeats an id with different content stops the import',
    results: [two, three, { ...two, tag: 'x' }, 'bad'],
    complete: false,
    counts: { created: 2, refused: 1 },
    refused: ['line 3: repeats id 2 of line 1 with different content'],
    stored: [one, two, three],
  },
  {
    what: 'a record that conflicts with a stored plant and an earlier record is a repetition',
    results: [one, other],
    complete: false,
    counts: { replayed: 1, refused: 1 },
    refused: ['line 2: repeats id 1 of line 1 with different content'],
    stored: [one],
  },
  {
    what: 'blank records are counted and do not stop the import',
    results: [undefined, two, undefined],
    complete: true,
    counts: { created: 1, blank: 2 },
    stored: [one, two],
  },
  {
    what: 'an invalid record stops the import',
    results: [two, 'bad', three, 'worse'],
    complete: false,
    counts: { created: 1, refused: 1 },
    refused: ['line 2: bad'],
    stored: [one, two],
  },
  {
    what: 'invalid records are skipped on request',
    results: ['bad', two, 'worse', three],
    options: { onError: 'skip' },
    complete: true,
    counts: { created: 2, refused: 2 },
    refused: ['line 1: bad', 'line 3: worse'],
    stored: [one, two, three],
  },
  {
    what: 'a conflict stops the import even if invalid records are skipped',
    results: ['bad', two, other, three, 'worse'],
    options: { onError: 'skip' },
    complete: false,
    counts: { created: 1, refused: 2 },
    refused: ['line 1: bad', `line 3: ${CONFLICT}`],
    stored: [one, two],
  },
  {
    what: 'a conflict stops the import before a later invalid record does',
    results: [other, 'bad'],
    complete: false,
    counts: { refused: 1 },
    refused: [`line 1: ${CONFLICT}`],
    stored: [one],
  },
  {
    what: 'stored plants are kept on request',
    results: [other, two, { ...two, tag: 'x' }],
    options: { onConflict: 'keep' },
    complete: true,
    counts: { created: 1, kept: 2 },
    repeated: ['line 3: repeats id 2 of line 2 (kept)'],
    stored: [one, two],
  },
  {
    what: 'stored plants are replaced on request',
    results: [other, two, three, { ...two, name: '2' }],
    options: { onConflict: 'replace' },
    complete: true,
    counts: { created: 2, replaced: 2 },
    repeated: ['line 4: repeats id 2 of line 2 (replaced)'],
    stored: [other, { ...two, name: '2' }, three],
  },
]

for (const {
  what,
  results,
  options,
  complete,
  counts,
  refused = [],
  repeated = [],
  stored,
} of cases) {
  t.test(what, async (t) => {
    const done = await importLines(t, results, options)
    t.equal(done.complete, complete)
    t.strictSame(done.counts, { ...newCounts(), ...counts })
    t.strictSame(done.refused, refused)
    t.strictSame(done.repeated, repeated)
    t.strictSame(done.stored, stored)
  })
}

t.test('small records share a transaction', async (t) => {
  const plants = Array.from({ length: TRANSACTION_RECORDS + 2 }, (_, index) => ({
    id: BigInt(index),
    name: 'one',
  }))
  const { sizes, progress, counts } = await importLines(t, plants)
  t.strictSame(sizes, [TRANSACTION_RECORDS - 1, 2])
  t.strictSame(progress, [TRANSACTION_RECORDS])
  t.match(counts, { created: TRANSACTION_RECORDS + 1, replayed: 1 })
})

t.test('fewer records share a transaction if they are large', async (t) => {
  const { sizes, progress } = await importLines(t, [two, three, { ...three, id: 4n }], {}, 2 ** 21)
  t.strictSame(sizes, [2, 1])
  t.strictSame(progress, [2 ** 22])
})

t.test('fewer records share a transaction if they are larger than in the file', async (t) => {
  const name = 'x'.repeat(2 ** 21)
  const { sizes } = await importLines(
    t,
    [2n, 3n, 4n].map((id) => ({ id, name })),
  )
  t.strictSame(sizes, [2, 1])
})

t.test('an import is interrupted between two reads', async (t) => {
  const interruption = new AbortController()
  const { signal } = interruption
  const onProgress = () => interruption.abort(new Error('interrupted'))
  const counts = newCounts()
  const options = { signal, onProgress, counts }
  await t.rejects(importLines(t, [two, three], options, 2 ** 22), { message: 'interrupted' })
  t.equal(counts.created, 1)
})

t.test('fewer records share a transaction if the stored plants are large', async (t) => {
  const large = Array.from({ length: 12 }, (_, index) => ({
    id: BigInt(index + 1),
    name: 'x'.repeat(2 ** 20),
  }))
  const small = large.map(({ id }) => ({ id, name: 'small' }))
  const importSmall = (onConflict: RecordImportOptions['onConflict'], plants = large) =>
    importLines(t, small, { onConflict }, 1, plants)

  const replaced = await importSmall('replace')
  t.match(replaced, { complete: true, counts: { replaced: 12 }, refused: [], sizes: [6, 6] })
  t.strictSame(replaced.stored, small)
  const kept = await importSmall('keep')
  t.match(kept, { complete: true, counts: { kept: 12 } })
  t.strictSame(kept.stored, large)

  const isSame = ({ id }: NewPlant) => id < 9n
  const conflicting = large.map((plant) => (isSame(plant) ? { ...plant, name: 'small' } : plant))
  const stopped = await importSmall('stop', conflicting)
  t.match(stopped, { complete: false, counts: { replayed: 8 }, refused: [/^line 9: plant 9 /] })
  t.strictSame(stopped.stored, conflicting)
})

t.test(
  'nothing is imported after a record that stops the import, in any transaction',
  async (t) => {
    const { complete, sizes, stored } = await importLines(t, ['bad', two, three], {}, 2 ** 22)
    t.equal(complete, false)
    t.strictSame(sizes, [])
    t.strictSame(stored, [one])
  },
)

t.test('the summary counts each ignored member and suggests the one that was meant', async (t) => {
  const ignored = new IgnoredMembers(members)
  t.equal(ignored.summary(), '')
  ignored.add(['Tag', 'colour'])
  ignored.add(['Tag'])
  t.equal(
    ignored.summary(),
    'ignored 3 (properties that are not stored: 2 × "Tag" (did you mean "tag"?), 1 × "colour")\n',
  )
})

t.test('only the first names are remembered', async (t) => {
  const ignored = new IgnoredMembers(members)
  for (let index = 0; index < NAMES_MAX + 5; index++) ignored.add([`x${index}`, 'x0'])
  const summary = ignored.summary()
  t.match(summary, `${NAMES_MAX + 6} × "x0", 1 × "x1"`)
  t.match(summary, `1 × "x${NAMES_MAX - 1}", and others)\n`)
  t.notMatch(summary, `"x${NAMES_MAX}"`)
})
