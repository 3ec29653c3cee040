/** Imports that update plants, on both engines. */
import t from 'tap'
import { LIST_TEXT_MAX } from '../../service/store/plant-store.ts'
import { createIn, removeFrom } from '../helpers/plants/single-changes.ts'
import { engines, recordImports } from './record-imports.ts'

const FIR = {
  id: 1n,
  name: 'Abies',
  tag: 'Tree',
  fields: '"accession":"A-1","height":120,"serial":9007199254740993',
}
const PINE = { id: 2n, name: 'Pinus' }

const update = { onConflict: 'update' } as const

for (const [name, engine] of Object.entries(engines)) {
  t.test(`${name}: an update changes only what records say`, async (t) => {
    const { loadPlanned, stored } = await recordImports(t, engine, [FIR, PINE])
    const done = await loadPlanned(
      [
        { id: 1n, height: 121 },
        { id: 2n, tag: '' },
        { id: 3n, name: 'Acer', height: null },
        { id: 2n, name: 'Pinus', tag: '' },
      ],
      update,
    )
    t.strictSame(done, {
      isComplete: true,
      counts: { created: 1, replayed: 1, updated: 2 },
      reports: ['line 4: repeats id 2 of line 2 (replayed)'],
    })
    t.strictSame(await stored(), [
      { ...FIR, fields: FIR.fields.replace('120', '121') },
      { ...PINE, tag: '' },
      { id: 3n, name: 'Acer' },
    ])
  })

  t.test(`${name}: null removes a value, and what was removed is counted`, async (t) => {
    const { loadPlanned, stored } = await recordImports(t, engine, [FIR, PINE])
    const records = [
      { id: 1n, tag: null, height: null, accession: 'A-2' },
      { id: 2n, tag: null, height: null },
      { id: 1n, tag: null, serial: null },
    ]
    const { counts } = await loadPlanned(records, update)
    t.strictSame(counts, { replayed: 1, updated: 2, removed: 3 })
    t.strictSame(await stored(), [{ id: 1n, name: 'Abies', fields: '"accession":"A-2"' }, PINE])
    t.strictSame((await loadPlanned(records, update)).counts, { replayed: 3 })
  })

  t.test(`${name}: a new plant needs a name, which no record removes`, async (t) => {
    const { load, loadPlanned, stored } = await recordImports(t, engine, [PINE])
    const records = [
      { id: 2n, tag: 'x' },
      { id: 3n, tag: 'x' },
      { id: 2n, name: null },
      { name: 'Acer' },
      { id: 4n, name: 'Acer' },
      { id: 4n, tag: 'y' },
    ]
    const reports = ['line 2: name is missing', 'line 3: name is missing', 'line 4: id is missing']
    const stopped = await load(records, update)
    t.strictSame(stopped, {
      isComplete: false,
      counts: { updated: 1, refused: 1 },
      reports: reports.slice(0, 1),
    })
    t.strictSame(await stored(), [{ ...PINE, tag: 'x' }])
    const skipped = await loadPlanned(records, { ...update, onError: 'skip' })
    t.strictSame(skipped, {
      isComplete: true,
      counts: { created: 1, replayed: 1, updated: 1, refused: 3 },
      reports: [...reports, 'line 6: repeats id 4 of line 5 (updated)'],
    })
    t.strictSame(await stored(), [
      { ...PINE, tag: 'x' },
      { id: 4n, name: 'Acer', tag: 'y' },
    ])
  })

  t.test(
    `${name}: plants that others change in the meantime are updated as they are`,
    async (t) => {
      const { store, load, stored } = await recordImports(t, engine, [FIR, PINE])
      let calls = 0
      const { counts, reports } = await load(
        [
          { id: 1n, name: 'Abies', height: 1 },
          { id: 2n, tag: 'x' },
          { id: 3n, name: 'Acer', tag: 'x' },
        ],
        {
          ...update,
          onError: 'skip',
          apply: async (changes, mode) => {
            if (calls++ === 0) {
              await removeFrom(store, 1n)
              await removeFrom(store, 2n)
              await createIn(store, { id: 3n, name: 'Acer', fields: '"height":5' })
            }
            return store.apply(changes, mode)
          },
        },
      )
      t.strictSame(counts, { created: 1, updated: 1, refused: 1 })
      t.strictSame(reports, ['line 2: name is missing'])
      t.strictSame(await stored(), [
        { id: 1n, name: 'Abies', fields: '"height":1' },
        { id: 3n, name: 'Acer', tag: 'x', fields: '"height":5' },
      ])
    },
  )

  t.test(`${name}: fewer plants share a transaction if they are large`, async (t) => {
    const count = 12
    const large = Array.from({ length: count }, (_, at) => ({
      id: BigInt(at + 1),
      name: `${at}`,
      tag: 'x'.repeat(LIST_TEXT_MAX / 8),
    }))
    const { store, load, stored } = await recordImports(t, engine, large)
    const sizes: number[] = []
    const { counts } = await load(
      [
        ...large.map(({ id }) => ({ id, height: 1 })),
        { id: 100n, tag: 'x' },
        { id: 1n, height: 2 },
      ],
      {
        ...update,
        apply: (changes, mode) => {
          sizes.push(changes.length)
          return store.apply(changes, mode)
        },
      },
    )
    t.strictSame(counts, { updated: count, refused: 1 })
    t.ok(sizes.every((size) => size < count))
    const expected = large.map((plant) => ({ ...plant, fields: '"height":1' }))
    // Comparing long strings takes tap long.
    t.ok(JSON.stringify((await stored()).map(toText)) === JSON.stringify(expected.map(toText)))
  })

  t.test(`${name}: fewer changes of one plant share a transaction if it is large`, async (t) => {
    const accession = `"accession":"${'x'.repeat(LIST_TEXT_MAX / 8)}"`
    const { store, load, stored } = await recordImports(t, engine, [{ ...PINE, fields: accession }])
    const sizes: number[] = []
    const heights = Array.from({ length: 12 }, (_, height) => ({ id: PINE.id, height }))
    const { counts } = await load(heights, {
      ...update,
      apply: (changes, mode) => {
        sizes.push(changes.length)
        return store.apply(changes, mode)
      },
    })
    t.strictSame(counts, { updated: 12 })
    t.ok(sizes.every((size) => size < heights.length))
    const [plant] = await stored()
    t.ok(plant?.fields === `${accession},"height":11`)
  })
}

function toText({ id, ...content }: { readonly id: bigint }): unknown {
  return [String(id), content]
}
