import type { Test } from 'tap'
import { mergeFields, plantJson, writeFields } from '../../service/plant-content.ts'
import {
  type ChangeResult,
  contentVersion,
  type NewPlant,
  type Plant,
  type PlantChange,
  type PlantPatch,
  type StoredPlant,
} from '../../service/plant-store.ts'
import type { Store } from '../../src/stores/shared/store.ts'
import { createAll } from '../helpers/lists.ts'
import { changesAfter, contentOf, latest } from './changes.ts'
import { byId, count, exported, MAX, MEGABYTE, MIN, STRINGS } from './plants.ts'
import { type Engine, type Open, opener } from './store-suite.ts'

const FIELDS = '"height":120,"light":"sun"'
const BEFORE = { name: 'a', tag: 'x', fields: FIELDS }
const PLAIN = { name: 'a', tag: 'x' }

type Content = Omit<NewPlant, 'id'>

/** Creates of an id that is taken: whether they have the stored content. */
const REPEATED: [what: string, stored: Plant, create: Content, result: ChangeResult][] = [
  ['the same fields', BEFORE, BEFORE, 'replayed'],
  ['no fields, and clears none', BEFORE, PLAIN, 'replayed'],
  ['one of the fields, and clears none', BEFORE, { ...PLAIN, fields: '"height":120' }, 'replayed'],
  ['the same, and clears others', BEFORE, { ...BEFORE, clears: '"photo":null' }, 'replayed'],
  ['none where none are, and clears some', PLAIN, { ...PLAIN, clears: '"a":null' }, 'replayed'],
  ['another value', BEFORE, { ...BEFORE, fields: '"height":121,"light":"sun"' }, 'conflict'],
  ['a field more', BEFORE, { ...BEFORE, fields: `${FIELDS},"photo":""` }, 'conflict'],
  ['fields where none are', PLAIN, BEFORE, 'conflict'],
  ['no fields, and clears them', BEFORE, { ...PLAIN, clears: '"light":null' }, 'conflict'],
  [
    'one of the fields, and clears the other',
    BEFORE,
    { ...PLAIN, fields: '"height":120', clears: '"light":null' },
    'conflict',
  ],
  ['the same fields and another name', BEFORE, { ...BEFORE, name: 'b' }, 'conflict'],
]

/** Patches of the fields, each with the fields afterwards. */
const PATCHES: [what: string, stored: Plant, patch: Fields, fields: string | undefined][] = [
  ['sets fields where none are', PLAIN, { fields: FIELDS }, FIELDS],
  [
    'sets some',
    BEFORE,
    { fields: '"height":-1.5,"zone":true' },
    '"height":-1.5,"light":"sun","zone":true',
  ],
  ['removes some', BEFORE, { clears: '"height":null,"photo":null' }, '"light":"sun"'],
  ['removes all', BEFORE, { clears: '"height":null,"light":null' }, undefined],
  ['sets and removes', BEFORE, { fields: '"light":""', clears: '"height":null' }, '"light":""'],
  ['changes none', BEFORE, { fields: '"light":"sun"', clears: '"photo":null' }, FIELDS],
  ['names none', BEFORE, {}, FIELDS],
  ['names none where none are', PLAIN, { clears: '"height":null' }, undefined],
]

type Fields = Pick<PlantPatch, 'fields' | 'clears'>

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
  const stored = async (plant: Content) => {
    const id = ++lastId
    await store.create({ id, ...plant })
    return id
  }
  const makes = async (t: Test, change: PlantChange, result: ChangeResult) =>
    t.same(await store.apply([change], 'each'), [result])

  for (const [what, before, content, result] of REPEATED) {
    t.test(`a create of a taken id with ${what}: ${result}`, async (t) => {
      const id = await stored(before)
      const plant = { id, ...content }
      t.equal(await store.create(plant), result)
      await makes(t, { type: 'create', ...plant }, result)
      t.same(await store.apply([{ type: 'create', ...plant }], 'all-or-none'), [result])
      t.strictSame(await store.get(id), { id, ...before }, 'nothing changed')
    })
  }

  for (const [what, before, patch, fields] of PATCHES) {
    const after = { ...PLAIN, ...(fields !== undefined && { fields }) }
    const result = fields === before.fields ? 'unchanged' : 'updated'

    t.test(`an update that ${what} resolves to the stored plant`, async (t) => {
      const id = await stored(before)
      t.strictSame(await store.update(id, patch), { id, ...after })
      t.strictSame(await store.get(id), { id, ...after })
    })

    for (const [type, change] of [
      ['put', { type: 'put', ...PLAIN, ...patch }],
      ['update in a list', { type: 'update', patch }],
    ] as const) {
      t.test(`a ${type} that ${what} keeps the fields that it does not name`, async (t) => {
        const id = await stored(before)
        await makes(t, { id, ...change }, result)
        t.strictSame(await store.get(id), { id, ...after })
        await makes(t, { id, ...change }, 'unchanged')
      })
    }
  }

  t.test('a new plant has the fields of its create or put', async (t) => {
    for (const type of ['create', 'put'] as const) {
      const id = ++lastId
      const plant = { id, ...BEFORE, clears: '"photo":null' }
      await makes(t, { type, ...plant }, 'created')
      t.strictSame(await store.get(id), { id, ...BEFORE })
    }
  })

  t.test('changes to one plant in a list follow each other', async (t) => {
    const id = ++lastId
    const changes: PlantChange[] = [
      { type: 'create', id, ...PLAIN, fields: '"height":1' },
      { type: 'create', id, ...PLAIN },
      { type: 'create', id, ...PLAIN, clears: '"height":null' },
      { type: 'update', id, patch: { fields: '"light":"sun"' } },
      { type: 'put', id, name: 'b', clears: '"height":null' },
    ]
    const results = await store.apply(changes, 'each')
    t.same(results, ['created', 'replayed', 'conflict', 'updated', 'updated'])
    t.strictSame(await store.get(id), { id, name: 'b', fields: '"light":"sun"' })
  })

  t.test('of concurrent creates that differ in their fields, one is stored', async (t) => {
    const id = ++lastId
    const plants = Array.from({ length: 100 }, (_, height) => ({
      id,
      name: 'a',
      fields: `"height":${height}`,
    }))
    const results = await Promise.all(plants.map((plant) => store.create(plant)))
    t.equal(count(results, 'created'), 1)
    t.equal(count(results, 'conflict'), 99)
    t.strictSame(await store.get(id), plants[results.indexOf('created')])
  })

  t.test('concurrent updates of different fields are all kept', async (t) => {
    const id = await stored(BEFORE)
    const patches = Array.from({ length: 50 }, (_, index) => ({
      fields: `"field ${index}":${index}`,
    }))
    await Promise.all(patches.map((patch) => store.update(id, patch)))
    const fields = patches.reduce<string | undefined>(mergeFields, FIELDS)
    t.strictSame(await store.get(id), { id, ...BEFORE, fields })
  })

  t.test('only the expected version, which depends on the fields, is changed', async (t) => {
    const id = await stored(BEFORE)
    const others = [PLAIN, { ...BEFORE, fields: '"height":120' }].map(contentVersion)
    const patch = { clears: '"light":null' }
    t.equal(await store.update(id, patch, others), 'changed')
    t.equal(await store.remove(id, others), 'changed')
    t.strictSame(await store.get(id), { id, ...BEFORE })
    const after = { ...BEFORE, fields: '"height":120' }
    t.strictSame(await store.update(id, patch, [contentVersion(BEFORE)]), { id, ...after })
    t.equal(await store.remove(id, [contentVersion(BEFORE)]), 'changed')
    t.equal(await store.remove(id, [contentVersion(after)]), 'removed')
  })

  t.test('a list that is applied as a whole or not at all restores the fields', async (t) => {
    const [one, other] = [await stored(BEFORE), await stored(PLAIN)]
    const start = await latest(store)
    const results = await store.apply(
      [
        { type: 'put', id: one, name: 'b', clears: '"height":null,"light":null' },
        { type: 'update', id: other, patch: { fields: FIELDS } },
        { type: 'remove', id: one },
        { type: 'update', id: 0n, patch: { fields: FIELDS } },
      ],
      'all-or-none',
    )
    t.same(results, ['updated', 'updated', 'removed', 'not-found'])
    t.strictSame(await store.get(one), { id: one, ...BEFORE })
    t.strictSame(await store.get(other), { id: other, ...PLAIN })
    t.strictSame(await changesAfter(store, start), [])
  })

  t.test('the feed has each change of fields once, with its content', async (t) => {
    const start = await latest(store)
    const id = await stored({ ...BEFORE, clears: '"photo":null' })
    await store.update(id, { fields: '"height":121' })
    await store.update(id, { fields: '"height":121', clears: '"photo":null' })
    await store.apply([{ type: 'put', id, ...PLAIN }], 'each')
    await store.create({ id, ...PLAIN })
    await store.update(id, { clears: '"height":null,"light":null' })
    await store.update(id, { fields: FIELDS })
    await store.remove(id)
    t.strictSame((await changesAfter(store, start)).map(contentOf), [
      ['created', id, BEFORE],
      ['changed', id, { ...BEFORE, fields: '"height":121,"light":"sun"' }],
      ['changed', id, PLAIN],
      ['changed', id, BEFORE],
      ['removed', id],
    ])
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
    created.map(() => 'replayed'),
  )

  const ids = PLANTS.map(({ id }) => id)
  const after = (id: bigint | undefined) => ids.filter((each) => id === undefined || each > id)
  for (const [what, read, expected = PLANTS] of [
    ['in pages', (after) => store.list({ after, limit: 7 })],
    ['in long pages', (after) => store.list({ after, limit: 1000 })],
    ['in pages of a tag', (after) => store.list({ after, tag: 'x', limit: 2 }), tagged('x')],
    ['by their ids', (last) => store.getAll(after(last))],
    ['in a search', (after) => store.search({ after, text: '', limit: 9 })],
    [
      'in a search of a tag',
      (after) => store.search({ after, text: '', tag: 'x', limit: 9 }),
      tagged('x'),
    ],
    [
      'in a search without a tag',
      (after) => store.search({ after, text: '', tag: null, limit: 9 }),
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

  t.test('after a slot is acquired if they are long', async (t) => {
    let slots = 0
    const acquireSlot = async () => {
      slots++
    }
    await store.get(1n, acquireSlot)
    await store.getAll([1n, 2n], acquireSlot)
    t.equal(slots, 0)
    await store.get(1000n, acquireSlot)
    await store.getAll([1000n], acquireSlot)
    await store.list({ after: 999n, limit: 1 }, acquireSlot)
    await store.readChanges({ after: start, limit: 1000 }, acquireSlot)
    t.equal(slots, 4)
  })
}

function tagged(tag: string | undefined): StoredPlant[] {
  return PLANTS.filter((plant) => plant.tag === tag)
}

function toTexts({ id, name, tag, fields }: Partial<StoredPlant> = {}): unknown[] {
  return [`${id}`, name, tag, fields]
}

/** The requirements of SettingStore. */
export function settingSuite(t: Test, engine: Engine): void {
  let open: Open
  let store: Store
  t.before(async () => {
    open = await opener(t, engine)
    store = await open()
  })

  t.test('a setting is replaced only if it has the expected value', async (t) => {
    t.equal(await store.readSetting('a'), undefined)
    t.equal(await store.replaceSetting('a', '', '1'), false)
    t.equal(await store.replaceSetting('a', undefined, '1'), true)
    t.equal(await store.replaceSetting('a', undefined, '2'), false)
    t.equal(await store.replaceSetting('a', '2', '3'), false)
    t.equal(await store.readSetting('a'), '1')
    t.equal(await store.replaceSetting('a', '1', '1'), true)
    t.equal(await store.replaceSetting('a', '1', ''), true)
    t.equal(await store.readSetting('a'), '')
    t.equal(await store.replaceSetting('a', '', '4'), true)
    t.equal(await store.readSetting('a'), '4')
    t.equal(await store.readSetting('b'), undefined, 'other settings are unchanged')
  })

  t.test('names and values are exact', async (t) => {
    for (const text of [...STRINGS, MEGABYTE]) {
      const name = `name ${text.slice(0, 100)}`
      t.equal(await store.replaceSetting(name, undefined, text), true)
      t.ok((await store.readSetting(name)) === text)
    }
  })

  t.test('one of several concurrent replacements succeeds', async (t) => {
    for (const expected of [undefined, 'first']) {
      const values = Array.from({ length: 50 }, (_, index) => `${expected} ${index}`)
      const results = await Promise.all(
        values.map((value) => store.replaceSetting('contended', expected, value)),
      )
      t.equal(count(results, true), 1)
      const [winner = ''] = values.filter((_, index) => results[index])
      t.equal(await store.readSetting('contended'), winner)
      await store.replaceSetting('contended', winner, 'first')
    }
  })

  t.test('a setting is replaced while the database is restricted', async (t) => {
    await store.restrict({ expected: undefined, next: 'frozen' })
    t.equal(await store.replaceSetting('frozen', undefined, 'x'), true)
    await store.restrict({ expected: 'frozen', next: undefined })
    t.equal(await store.readSetting('frozen'), 'x')
  })

  if (!engine.lasting) return
  t.test('other stores see a setting at once, and it survives reopening', async (t) => {
    const [one, other] = [await open(), await open()]
    await one.replaceSetting('shared', undefined, 'x')
    t.equal(await other.readSetting('shared'), 'x')
    const results = await Promise.all(
      [one, other].map((store) => store.replaceSetting('shared', 'x', 'y')),
    )
    t.same(results.toSorted(), [false, true])
    await Promise.all([one, other].map((store) => store.close()))
    t.equal(await (await open()).readSetting('shared'), 'y')
  })
}
