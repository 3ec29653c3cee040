import type { Test } from 'tap'
import { restrict } from '../../../service/restriction.ts'
import { mergeFields, plantJson, writeFields } from '../../../service/store/plant-content.ts'
import type { NewPlant, StoredPlant } from '../../../service/store/plant-store.ts'
import type { Store } from '../../../src/stores/shared/store.ts'
import { createAll } from '../../helpers/plants/lists.ts'
import { createIn, updateIn } from '../../helpers/plants/single-changes.ts'
import { readSetting, replaceSetting } from '../../helpers/service/settings.ts'
import { changesAfter, latest } from '../feed-reads.ts'
import { byId, count, exported, MAX, MEGABYTE, MIN, STRINGS } from '../plants.ts'
import { type Engine, type Open, opener } from '../store-suite.ts'

const FIELDS = '"height":120,"light":"sun"'
const BEFORE = { name: 'a', tag: 'x', fields: FIELDS }

/** Values that look like the end of JSON or SQL, and the longest. */
const PLANTS: readonly StoredPlant[] = byId([
  { id: MIN, name: 'a}}', fields: FIELDS },
  { id: MAX, name: '"}', tag: '', fields: '"a":"}"' },
  {
    id: 1n,
    name: '',
    tag: '}',
    fields: '"__proto__2":0,"constructor":"{}","tag2":9223372036854775807',
  },
  { id: 2n, name: 'without' },
  { id: 3n, name: 'without', tag: 'x' },
  ...STRINGS.map((text, index) => ({
    id: BigInt(index) + 10n,
    name: text,
    ...(index % 3 > 0 && { tag: text }),
    fields:
      writeFields([
        [`${text} `, JSON.stringify(text)],
        ['number', '1e-7'],
      ]) ?? '',
  })),
  { id: 1000n, name: 'large', fields: `"note":${JSON.stringify(MEGABYTE)}` },
  { id: 1001n, name: 'large', tag: 'x', fields: `"note":${JSON.stringify(MEGABYTE.slice(2))}` },
])

/** The requirements of PlantStore for own fields. */
export function fieldsSuite(t: Test, engine: Engine): void {
  let store: Store
  let lastId = 0n
  t.before(async () => {
    store = await (await opener(t, engine))()
  })
  const stored = async (plant: Omit<NewPlant, 'id'>) => {
    const id = ++lastId
    await createIn(store, { id, ...plant })
    return id
  }

  t.test('an update removes what it sets to null, and nothing else', async (t) => {
    const id = await stored(BEFORE)
    const { fields } = BEFORE
    t.strictSame(await updateIn(store, id, { tag: null }), { id, name: 'a', fields })
    const clears = '"height":null,"light":null'
    t.strictSame(await updateIn(store, id, { clears, tag: 'y' }), { id, name: 'a', tag: 'y' })
    t.strictSame(await store.get(id), { id, name: 'a', tag: 'y' })
  })

  t.test('of concurrent creates that differ in their fields, one is stored', async (t) => {
    const id = ++lastId
    const plants = Array.from({ length: 100 }, (_, height) => ({
      id,
      name: 'a',
      fields: `"height":${height}`,
    }))
    const results = await Promise.all(plants.map((plant) => createIn(store, plant)))
    t.equal(count(results, 'created'), 1)
    t.equal(count(results, 'plant-exists'), 99)
    t.strictSame(await store.get(id), plants[results.indexOf('created')])
  })

  t.test('concurrent updates of different fields are all kept', async (t) => {
    const id = await stored(BEFORE)
    const patches = Array.from({ length: 50 }, (_, index) => ({
      fields: `"field ${index}":${index}`,
    }))
    await Promise.all(patches.map((patch) => updateIn(store, id, patch)))
    const fields = patches.reduce<string | undefined>(mergeFields, FIELDS)
    t.strictSame(await store.get(id), { id, ...BEFORE, fields })
  })

  t.test('fields are read byte for byte', (t) => readFields(t, engine))
}

async function readFields(t: Test, engine: Engine): Promise<void> {
  const store = await (await opener(t, engine))()
  const start = await latest(store)
  const created = PLANTS.map(() => 'created')
  t.same(await createAll(store, PLANTS), created)
  t.same(
    await createAll(store, PLANTS),
    created.map(() => 'unchanged'),
  )

  const ids = PLANTS.map(({ id }) => id)
  const after = (id: bigint | undefined) => ids.filter((each) => id === undefined || each > id)
  for (const [what, read, expected = PLANTS] of [
    ['in pages', (after) => store.list({ after, limit: 7 })],
    ['in long pages', (after) => store.list({ after, limit: 1000 })],
    ['in pages of a tag', (after) => store.list({ after, tag: 'x', limit: 2 }), tagged('x')],
    ['by their ids', (last) => store.getAll(after(last))],
    [
      'in a search',
      (after) => store.list({ after, words: ['l'], limit: 9 }),
      PLANTS.filter(({ name }) => name.includes('l')),
    ],
    [
      'in a search of a tag',
      (after) => store.list({ after, words: ['l'], tag: 'x', limit: 9 }),
      tagged('x').filter(({ name }) => name.includes('l')),
    ],
    [
      'in a search without a tag',
      (after) => store.list({ after, tag: null, limit: 9 }),
      tagged(undefined),
    ],
  ] as [string, (after: bigint | undefined) => ReturnType<Store['getAll']>, StoredPlant[]?][]) {
    t.test(what, async (t) => {
      const pages: string[] = []
      for (let last: bigint | undefined; ; ) {
        const { json, next } = await read(last)
        pages.push(json.slice(1, -1))
        if (next === undefined) break
        last = next
      }
      const found = pages.filter((page) => page !== '').join()
      const wanted = expected.map(plantJson).join()
      // Not as a difference, which would have megabytes.
      t.ok(found === wanted, found.length === wanted.length ? 'same length' : 'other length')
    })
  }

  t.test('alone', async (t) => {
    const found = await Promise.all(ids.map((id) => store.get(id)))
    t.ok(JSON.stringify(found.map(toTexts)) === JSON.stringify(PLANTS.map(toTexts)))
  })

  t.test('in an export, in small batches', async (t) => {
    const found = await exported(store)
    t.ok(JSON.stringify(found.map(toTexts)) === JSON.stringify(PLANTS.map(toTexts)))
    t.ok((await Array.fromAsync(store.exportPlants())).length > 1)
  })

  t.test('in the feed', async (t) => {
    const found = byId(
      (await changesAfter(store, start)).map(({ id, plant }) => ({ id, name: '', ...plant })),
    )
    t.ok(JSON.stringify(found.map(toTexts)) === JSON.stringify(PLANTS.map(toTexts)))
  })
}

function tagged(tag: string | undefined): StoredPlant[] {
  return PLANTS.filter((plant) => plant.tag === tag)
}

function toTexts({ id, name, tag, fields }: Partial<StoredPlant> = {}): unknown[] {
  return [`${id}`, name, tag, fields]
}

/** The requirements of settings, which are records. */
export function settingSuite(t: Test, engine: Engine): void {
  let open: Open
  let store: Store
  t.before(async () => {
    open = await opener(t, engine)
    store = await open()
  })

  t.test('a setting is replaced only if it has the expected value', async (t) => {
    t.equal(await readSetting(store, 'a'), undefined)
    t.equal(await replaceSetting(store, 'a', '', '1'), false)
    t.equal(await replaceSetting(store, 'a', undefined, '1'), true)
    t.equal(await replaceSetting(store, 'a', undefined, '2'), false)
    t.equal(await replaceSetting(store, 'a', '2', '3'), false)
    t.equal(await readSetting(store, 'a'), '1')
    t.equal(await replaceSetting(store, 'a', '1', '1'), true)
    t.equal(await replaceSetting(store, 'a', '1', ''), true)
    t.equal(await readSetting(store, 'a'), '')
    t.equal(await replaceSetting(store, 'a', '', '4'), true)
    t.equal(await readSetting(store, 'a'), '4')
    t.equal(await readSetting(store, 'b'), undefined, 'other settings are unchanged')
  })

  t.test('names and values are exact', async (t) => {
    for (const text of [...STRINGS, MEGABYTE]) {
      const name = `name ${text.slice(0, 100)}`
      t.equal(await replaceSetting(store, name, undefined, text), true)
      t.ok((await readSetting(store, name)) === text)
    }
  })

  t.test('one of several concurrent replacements succeeds', async (t) => {
    for (const expected of [undefined, 'first']) {
      const values = Array.from({ length: 50 }, (_, index) => `${expected} ${index}`)
      const results = await Promise.all(
        values.map((value) => replaceSetting(store, 'contended', expected, value)),
      )
      t.equal(count(results, true), 1)
      const [winner = ''] = values.filter((_, index) => results[index])
      t.equal(await readSetting(store, 'contended'), winner)
      await replaceSetting(store, 'contended', winner, 'first')
    }
  })

  t.test('a setting is replaced while the database is restricted', async (t) => {
    await restrict(store, { expected: undefined, next: 'frozen' })
    t.equal(await replaceSetting(store, 'frozen', undefined, 'x'), true)
    await restrict(store, { expected: 'frozen', next: undefined })
    t.equal(await readSetting(store, 'frozen'), 'x')
  })

  t.test('other stores see a setting at once, and it survives reopening', async (t) => {
    const [one, other] = [await open(), await open()]
    await replaceSetting(one, 'shared', undefined, 'x')
    t.equal(await readSetting(other, 'shared'), 'x')
    const results = await Promise.all(
      [one, other].map((store) => replaceSetting(store, 'shared', 'x', 'y')),
    )
    t.same(results.toSorted(), [false, true])
    await Promise.all([one, other].map((store) => store.close()))
    t.equal(await readSetting(await open(), 'shared'), 'y')
  })
}
