/** How a database comes to have the own fields of a contract. */

import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { FieldSchema, OwnField } from '../../core/members/own-fields.ts'
import { readLatestCursor } from '../../service/store/change-feed.ts'
import { adoptFields } from '../../src/start/field-adoption.ts'
import { openStore } from '../../src/stores/engines.ts'
import type { Store } from '../../src/stores/shared/store.ts'
import { StoreError } from '../../src/stores/shared/store-error.ts'
import {
  changeStoredFields,
  declaredFields,
  readStoredFields,
} from '../../src/stores/shared/stored-fields.ts'
import { createIn } from '../helpers/plants/single-changes.ts'
import { readSetting } from '../helpers/service/settings.ts'

const KEEP = { hide: false }
const HIDE = { hide: true }

const integer = (keywords: Partial<FieldSchema> = {}): FieldSchema => ({
  type: 'integer',
  format: 'int32',
  ...keywords,
})

const height = { name: 'height', schema: integer({ minimum: 0, maximum: 500 }) }
const tall = { name: 'height', schema: integer({ minimum: 0, maximum: 1000 }) }
const short = { name: 'height', schema: integer({ minimum: 0, maximum: 300 }) }
const titled = { name: 'height', schema: { ...height.schema, title: 'Height in cm' } }
const light: OwnField = { name: 'light', schema: { type: 'string', enum: ['sun', 'shade'] } }
const photo: OwnField = { name: 'photo', schema: { type: 'string', format: 'uri' } }

const TOO_SHORT =
  /^the database can have values that the contract does not allow \(height: .*500.*300\): stop the service, run plant-store check with this --contract, and start it again$/

async function open(t: Test, database = ':memory:'): Promise<Store> {
  const sameThread = database !== ':memory:'
  const store = await openStore({ database, lockTimeout: 60_000, sameThread })
  t.teardown(() => store.close())
  return store
}

/** A store that counts the calls that read and replace its settings. */
function counted(store: Store) {
  const calls = { reads: 0, writes: 0 }
  const findRecord: Store['findRecord'] = (...args) => {
    calls.reads++
    return store.findRecord(...args)
  }
  const changeRecords: Store['changeRecords'] = (...args) => {
    calls.writes++
    return store.changeRecords(...args)
  }
  const readChanges: Store['readChanges'] = (request) => store.readChanges(request)
  const nextCommit: Store['nextCommit'] = () => store.nextCommit()
  return { calls, findRecord, changeRecords, readChanges, nextCommit }
}

interface Transition {
  readonly what: string
  /** The contracts of the starts so far. */
  readonly before: readonly OwnField[][]
  /** Undefined for a start without a contract. */
  readonly declared: readonly OwnField[] | undefined
  readonly hide?: boolean
  /** The fields that are stored and hidden, or the error. */
  readonly result: { readonly fields: OwnField[]; readonly hidden: string[] } | RegExp
}

const TRANSITIONS: readonly Transition[] = [
  {
    what: 'the first fields are stored',
    before: [],
    declared: [height, light],
    result: { fields: [height, light], hidden: [] },
  },
  {
    what: 'a new field is stored, in the order of the contract',
    before: [[height]],
    declared: [light, height],
    result: { fields: [light, height], hidden: [] },
  },
  {
    what: 'a wider field is stored',
    before: [[height]],
    declared: [tall],
    result: { fields: [tall], hidden: [] },
  },
  {
    what: 'another title is stored',
    before: [[height]],
    declared: [titled],
    result: { fields: [titled], hidden: [] },
  },
  { what: 'a narrower field is refused', before: [[height]], declared: [short], result: TOO_SHORT },
  {
    what: 'a field that is gone is hidden',
    before: [[height, light]],
    declared: [light],
    result: { fields: [light, height], hidden: ['height'] },
  },
  {
    what: 'a field that is back is no longer hidden',
    before: [[height, light], [light]],
    declared: [height, light],
    result: { fields: [height, light], hidden: [] },
  },
  {
    what: 'a field that is back, and narrower, is refused',
    before: [[height, light], [light]],
    declared: [short, light],
    result: TOO_SHORT,
  },
  {
    what: 'a contract without fields hides all',
    before: [[height]],
    declared: [],
    result: { fields: [height], hidden: ['height'] },
  },
  {
    what: 'no contract is refused',
    before: [[height, light], [light]],
    declared: undefined,
    result:
      /^the database has fields that are not in the contract: light, height; set --contract, or hide them with --hide-fields$/,
  },
  {
    what: 'no contract is accepted if all fields are to be hidden',
    before: [[height, light], [light]],
    declared: undefined,
    hide: true,
    result: { fields: [light, height], hidden: ['light', 'height'] },
  },
]

for (const { what, before, declared, hide = false, result } of TRANSITIONS) {
  t.test(what, async (t) => {
    const store = await open(t)
    for (const fields of before) await adoptFields(store, fields, KEEP)
    const stored = await readSetting(store, 'fields')
    const adopted = adoptFields(store, declared, { hide })
    if (result instanceof RegExp) {
      const error = await adopted.catch((reason: unknown) => reason)
      t.type(error, StoreError)
      t.match(error, { message: result })
      t.equal(await readSetting(store, 'fields'), stored, 'nothing changed')
    } else {
      t.same(await adopted, result.hidden)
      t.same(await readStoredFields(store), result)
    }
  })
}
t.test('a database without own fields gets no setting, and costs one read', async (t) => {
  const store = await open(t)
  const { calls, ...uncounted } = counted(store)
  for (const declared of [undefined, []]) {
    t.same(await adoptFields(uncounted, declared, KEEP), [])
  }
  t.same(calls, { reads: 2, writes: 0 })
  t.equal(await readSetting(store, 'fields'), undefined)
  t.same(await readStoredFields(store), { fields: [], hidden: [] })
})

t.test('a start with the stored fields writes nothing', async (t) => {
  const { calls, ...store } = counted(await open(t))
  await adoptFields(store, [height, light], KEEP)
  await adoptFields(store, [height, light], KEEP)
  t.same(calls, { reads: 2, writes: 1 })
  await adoptFields(store, undefined, HIDE)
  await adoptFields(store, undefined, HIDE)
  t.same(calls, { reads: 4, writes: 2 })
})

t.test('a narrower field is accepted after a check, until a plant changes', async (t) => {
  const store = await open(t)
  await adoptFields(store, [height, light], KEEP)
  await createIn(store, { id: 1n, name: 'Abies', fields: '"height":300' })
  const checked = { fields: [short, light], cursor: await readLatestCursor(store) }
  await changeStoredFields(store, (stored) => ({ ...stored, checked }))
  await t.rejects(adoptFields(store, [short, photo], KEEP), TOO_SHORT, 'another contract')
  await createIn(store, { id: 2n, name: 'Abies', fields: '"height":400' })
  await t.rejects(adoptFields(store, [short, light], KEEP), TOO_SHORT, 'a plant has changed')
  const again = { ...checked, cursor: await readLatestCursor(store) }
  await changeStoredFields(store, (stored) => ({ ...stored, checked: again }))
  const renamed = [{ ...light, schema: { ...light.schema, title: 'Light' } }, short]
  t.same(await adoptFields(store, renamed, KEEP), [])
  t.same(declaredFields(await readStoredFields(store)), renamed)
})

t.test('a process that starts at the same time is noticed', async (t) => {
  const database = join(t.testdir(), 'plants.db')
  const [one, other] = [await open(t, database), await open(t, database)]
  const meanwhile = [[tall], [photo, tall]]
  const interrupted = {
    ...counted(one),
    findRecord: async (...args: Parameters<Store['findRecord']>) => {
      const record = await one.findRecord(...args)
      const faster = meanwhile.shift()
      if (faster !== undefined) await adoptFields(other, faster, KEEP)
      return record
    },
  }
  await adoptFields(one, [height], KEEP)
  await t.rejects(adoptFields(interrupted, [height, light], KEEP), /1000/)
  t.same(await adoptFields(interrupted, [tall, light], KEEP), ['photo'])
  t.same(meanwhile, [])
  t.same(await readStoredFields(one), { fields: [tall, light, photo], hidden: ['photo'] })
})
