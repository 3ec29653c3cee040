/** Imports that find or choose the ids of plants, on both engines. */
import t from 'tap'
import { INT64_MAX } from '../../core/json/int64.ts'
import { LIST_TEXT_MAX } from '../../service/store/plant-store.ts'
import { FileError } from '../../src/system/user-errors.ts'
import { createIn, removeFrom } from '../helpers/plants/single-changes.ts'
import { engines, recordImports } from './record-imports.ts'

const FIR = { id: 7n, name: 'Abies', fields: '"accession":"A-1","height":120' }
const PINE = { id: -3n, name: 'Pinus', fields: '"accession":"A-2"' }
const OAK = { id: 5n, name: 'Quercus' }

const byAccession = { match: 'accession', onConflict: 'update' } as const

for (const [name, engine] of Object.entries(engines)) {
  t.test(`${name}: records are matched by an own field`, async (t) => {
    const { loadPlanned, stored } = await recordImports(t, engine, [FIR, PINE, OAK])
    const records = [
      { accession: 'A-2', height: 10 },
      { accession: 'B-1', name: 'Acer' },
      { accession: 'A-1', height: 121, name: 'Abies alba' },
      { accession: 'a-1', name: 'Abies' },
    ]
    const done = await loadPlanned(records, byAccession)
    t.strictSame(done, { isComplete: true, counts: { created: 2, updated: 2 }, reports: [] })
    const plants = [
      { ...PINE, fields: '"accession":"A-2","height":10' },
      OAK,
      { ...FIR, name: 'Abies alba', fields: '"accession":"A-1","height":121' },
      { id: 8n, name: 'Acer', fields: '"accession":"B-1"' },
      { id: 9n, name: 'Abies', fields: '"accession":"a-1"' },
    ]
    t.strictSame(await stored(), plants)
    for (const onConflict of ['update', 'stop', 'keep', 'replace'] as const) {
      // Only an update works without a name.
      const again = onConflict === 'update' ? records : records.slice(1)
      const { counts } = await loadPlanned(again, { ...byAccession, onConflict })
      t.strictSame(counts, { replayed: again.length }, onConflict)
    }
    t.strictSame(await stored(), plants)
  })

  t.test(`${name}: numbers and names are matched exactly`, async (t) => {
    const numbered = { id: 1n, name: 'Abies', fields: `"serial":${INT64_MAX}` }
    const { loadPlanned, stored } = await recordImports(t, engine, [numbered])
    const bySerial = { match: 'serial', onConflict: 'update' } as const
    await loadPlanned(
      [
        { serial: INT64_MAX, tag: 'x' },
        { serial: INT64_MAX - 1n, name: 'Acer' },
      ],
      bySerial,
    )
    await loadPlanned([{ name: 'Acer', tag: 'y' }, { name: 'acer' }], {
      ...bySerial,
      match: 'name',
    })
    t.strictSame(await stored(), [
      { ...numbered, tag: 'x' },
      { id: 2n, name: 'Acer', tag: 'y', fields: `"serial":${INT64_MAX - 1n}` },
      { id: 3n, name: 'acer' },
    ])
  })

  t.test(`${name}: a value of several plants or records is refused`, async (t) => {
    const twin = { ...FIR, id: 9n, name: 'other' }
    const { load, loadPlanned, stored } = await recordImports(t, engine, [FIR, twin, PINE])
    const records = [
      { accession: 'A-2', height: 1 },
      { accession: 'A-1', height: 1 },
      { accession: 'B-1', name: 'Acer' },
      { accession: 'B-1', name: 'Acer' },
      { accession: null, name: 'Acer' },
      { name: 'Acer' },
      { accession: 'B-2', height: 1 },
    ]
    const reports = [
      'line 2: several plants, such as 7 and 9, have accession "A-1"',
      'line 4: repeats accession "B-1" of line 3',
      'line 5: accession is missing',
      'line 6: accession is missing',
      'line 7: name is missing',
    ]
    t.strictSame(await load(records, byAccession), {
      isComplete: false,
      counts: { updated: 1, refused: 1 },
      reports: reports.slice(0, 1),
    })
    t.equal((await stored()).length, 3)
    const skipped = await loadPlanned(records, { ...byAccession, onError: 'skip' })
    t.strictSame(skipped, {
      isComplete: true,
      counts: { created: 1, replayed: 1, refused: 5 },
      reports,
    })
  })

  t.test(`${name}: a conflict stops an import before later plants are created`, async (t) => {
    const { load, stored } = await recordImports(t, engine, [FIR])
    const records = [
      { accession: 'B-1', name: 'Acer' },
      { accession: 'A-1', name: 'other' },
      { accession: 'B-2', name: 'Alnus' },
    ]
    const { isComplete, counts, reports } = await load(records, { match: 'accession' })
    t.strictSame([isComplete, counts], [false, { created: 1, refused: 1 }])
    t.strictSame(reports, ['line 2: plant 7 already exists with different content'])
    t.strictSame(await stored(), [FIR, { id: 8n, name: 'Acer', fields: '"accession":"B-1"' }])
  })

  t.test(`${name}: new plants get the next ids if others use those first`, async (t) => {
    const { store, load, stored } = await recordImports(t, engine, [OAK])
    let calls = 0
    const create = (id: bigint) => createIn(store, { id, name: 'theirs' })
    const apply: typeof store.apply = async (changes, mode) => {
      if (calls++ === 0) await create(7n)
      if (calls === 2) await create(9n)
      return store.apply(changes, mode)
    }
    const records = ['a', 'b', 'c'].map((name) => ({ name }))
    const { counts } = await load(records, { newIds: true, apply })
    t.strictSame(counts, { created: 3 })
    const names = (await stored()).map(({ id, name }) => [id, name])
    t.strictSame(names, [
      [5n, 'Quercus'],
      [7n, 'theirs'],
      [9n, 'theirs'],
      [10n, 'a'],
      [11n, 'b'],
      [12n, 'c'],
    ])
  })

  t.test(
    `${name}: a replacement replaces no plant that others create in the meantime`,
    async (t) => {
      const { store, load, stored } = await recordImports(t, engine, [FIR])
      let calls = 0
      const apply: typeof store.apply = async (changes, mode) => {
        if (calls++ === 0) await createIn(store, { id: 8n, name: 'theirs' })
        return store.apply(changes, mode)
      }
      const records = [
        { accession: 'A-1', name: 'Abies' },
        { accession: 'B-1', name: 'Acer' },
      ]
      const options = { match: 'accession', onConflict: 'replace', apply } as const
      t.strictSame((await load(records, options)).counts, { created: 1, replaced: 1 })
      t.strictSame(await stored(), [
        { id: 7n, name: 'Abies', fields: '"accession":"A-1"' },
        { id: 8n, name: 'theirs' },
        { id: 9n, name: 'Acer', fields: '"accession":"B-1"' },
      ])
    },
  )

  t.test(`${name}: without ids, a file is imported as often as it is given`, async (t) => {
    const { loadPlanned, stored } = await recordImports(t, engine)
    const records = [{ name: 'Acer' }, { id: 99n, name: 'Acer' }, { tag: 'x' }]
    for (let times = 1; times <= 2; times++) {
      const { counts, reports } = await loadPlanned(records, { newIds: true, onError: 'skip' })
      t.strictSame(counts, { created: 2, refused: 1 })
      t.strictSame(reports, ['line 3: name is missing'])
    }
    const plants = await stored()
    t.ok(plants.every(({ name }) => name === 'Acer'))
    t.equal(new Set(plants.map(({ id }) => id)).size, 4)
  })

  t.test(`${name}: a plant without an id is added, although others add an equal one`, async (t) => {
    const { load, store, stored } = await recordImports(t, engine)
    let calls = 0
    const apply: typeof store.apply = async (changes, mode) => {
      if (calls++ === 0) await createIn(store, { id: 1n, name: 'Acer' })
      return store.apply(changes, mode)
    }
    t.strictSame((await load([{ name: 'Acer' }], { newIds: true, apply })).counts, { created: 1 })
    t.equal((await stored()).length, 2)
  })

  t.test(`${name}: of two equal imports at once, one creates each plant`, async (t) => {
    const { store, load, stored, idsOf } = await recordImports(t, engine)
    const records = ['A-1', 'A-2'].map((accession) => ({ accession, name: accession }))
    const ids = await idsOf(byAccession)
    t.strictSame((await load(records, byAccession)).counts, { created: 2 })
    const second = await load(records, { onConflict: 'update', ...(ids && { ids }) })
    t.strictSame(second.counts, { replayed: 2 })
    t.equal((await stored()).length, 2)
    await removeFrom(store, 1n)
    t.strictSame((await load(records, byAccession)).counts, { created: 1, replayed: 1 })
  })

  t.test(`${name}: different imports at once can create several plants with a value`, async (t) => {
    const { load, stored, idsOf } = await recordImports(t, engine)
    const ids = await idsOf(byAccession)
    await load([{ accession: 'A-1', name: 'first' }], byAccession)
    const record = { accession: 'A-1', name: 'second' }
    await load([record], { ...(ids && { ids }) })
    t.equal((await stored()).length, 2)
    t.strictSame((await load([record], byAccession)).reports, [
      'line 1: several plants, such as 1 and 2, have accession "A-1"',
    ])
  })

  t.test(`${name}: a matched plant that others remove is created again`, async (t) => {
    const { store, load, stored, idsOf } = await recordImports(t, engine, [FIR, PINE])
    const ids = await idsOf(byAccession)
    await removeFrom(store, FIR.id)
    await removeFrom(store, PINE.id)
    const records = [
      { accession: 'A-1', name: 'Abies', height: 1 },
      { accession: 'A-2', height: 1 },
    ]
    const { counts, reports } = await load(records, { ...byAccession, ...(ids && { ids }) })
    t.strictSame([counts, reports], [{ created: 1, refused: 1 }, ['line 2: name is missing']])
    t.strictSame(await stored(), [{ ...FIR, fields: '"accession":"A-1","height":1' }])
  })

  t.test(`${name}: fewer new plants share a transaction if they are large`, async (t) => {
    const { load, stored } = await recordImports(t, engine)
    const records = Array.from({ length: 10 }, (_, at) => ({
      name: `${at}`,
      tag: 'x'.repeat(LIST_TEXT_MAX / 8),
    }))
    t.strictSame((await load(records, { newIds: true })).counts, { created: 10 })
    const names = (await stored()).map(({ name }) => name)
    t.strictSame(names, [...records.keys()].map(String))
  })

  t.test(`${name}: an import cannot choose ids after the last one`, async (t) => {
    const { load } = await recordImports(t, engine, [{ id: INT64_MAX - 1n, name: 'Abies' }])
    const records = [{ name: 'Acer' }, { name: 'Alnus' }]
    await t.rejects(
      load(records, { newIds: true }),
      new FileError('cannot choose ids for new plants: 9223372036854775807 is the last one'),
    )
  })
}
