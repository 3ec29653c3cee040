/** Drafts of plants with own fields. */
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { ServiceError, type StoredPlant } from '../../../client/client.ts'
import { extendContract, loadContract } from '../../../core/contract/contract.ts'
import { type ChangeClient, save } from '../../../page/changes/change-run.ts'
import type { Draft } from '../../../page/drafts/draft.ts'
import { Drafts, type Saver } from '../../../page/drafts/drafts.ts'
import { explainField } from '../../../page/errors/field-error.ts'
import { describeService, FIR } from './nursery.ts'

t.before(() => describeService(t))

/** A client that records what it is asked to store. */
function recorder(stored: StoredPlant) {
  const calls: unknown[] = []
  const { id: _, ...content } = stored
  const client = {
    changePlants: async ([{ ifContent, ...change }]: [{ ifContent: object }]) => {
      if (!isDeepStrictEqual(ifContent, content)) throw new ServiceError('plant-changed', 'changed')
      calls.push(change)
      return { created: 0, changed: 1, removed: 0, unchanged: 0 }
    },
    async *plants() {
      yield stored
    },
  } as unknown as ChangeClient
  const saver: Saver = {
    save: (intent, isUncertain) => save(client, intent, true, isUncertain),
    onSaved: () => {},
  }
  return { calls, client, saver }
}

function edit(drafts: Drafts, typed: Parameters<Drafts['type']>[1]): number {
  drafts.edit(FIR)
  const { key } = drafts.open as Draft
  drafts.type(key, typed)
  return key
}

t.test('only what has changed is sent, so that unknown fields stay', async (t) => {
  const { calls, saver } = recorder({ ...FIR, unknown: 'since the page was loaded' } as StoredPlant)
  const drafts = new Drafts()
  const key = edit(drafts, { height: '125', photo: undefined, constructor: 'L.' })
  await drafts.send(key, saver)
  t.same(drafts.all, [])
  const patch = { height: 125, photo: null, constructor: 'L.' }
  t.strictSame(calls, [{ op: 'update', id: FIR.id, ...patch }])
})

t.test('own fields that only others have changed are merged', async (t) => {
  const id2 = FIR.id2 + 1n
  const { calls, client } = recorder({ ...FIR, id2 } as StoredPlant)
  const intent = { id: FIR.id, before: FIR, after: { ...FIR, name: 'Acer' } }
  const { id, ...merged } = { ...FIR, id2, name: 'Acer' }
  const { id: _, ...earlier } = { ...FIR, id2 }
  t.strictSame(await save(client, intent, true), {
    kind: 'done',
    plant: merged,
    undo: { id, before: merged, after: earlier },
  })
  t.strictSame(calls, [{ op: 'update', id, name: 'Acer' }])
})

t.test('an own field that both have changed is a conflict', async (t) => {
  const { photo, ...stored } = { ...FIR, id2: FIR.id2 + 1n, constructor: 'L.' }
  const { calls, saver } = recorder(stored)
  const drafts = new Drafts()
  const typed = {
    id2: String(FIR.id2 + 2n),
    constructor: undefined,
    photo: 'https://other.example',
  }
  const key = edit(drafts, { ...typed, name: 'Acer', height: ' 120 ' })
  await drafts.send(key, saver)
  t.same(calls, [])
  t.match(drafts.open, { state: 'conflict', typed, contested: ['photo', 'constructor', 'id2'] })
  drafts.choose(key, 'constructor', 'stored', saver)
  drafts.choose(key, 'photo', 'stored', saver)
  t.match(drafts.open, { state: 'conflict', contested: ['id2'] })
  await drafts.choose(key, 'id2', 'mine', saver)
  t.strictSame(calls, [{ op: 'update', id: FIR.id, name: 'Acer', id2: FIR.id2 + 2n }])
})

t.test('text that is not a value is kept, and not sent', async (t) => {
  const { calls, saver } = recorder(FIR)
  const drafts = new Drafts()
  const key = edit(drafts, { price: 'free' })
  await drafts.send(key, saver)
  const problem = 'price must be a number, written like 4 or -1.5.'
  t.match(drafts.open, { state: 'refused', problem, problemField: 'price' })
  drafts.type(key, { name: 'Acer' })
  t.match(drafts.open, { state: 'editing', problem: undefined, problemField: undefined })
  drafts.close()
  t.match(drafts.unsaved, [{ typed: { price: 'free' } }])
  drafts.observe({ id: FIR.id, plant: { ...FIR, tag: 'theirs' } })
  t.match(drafts.all, [{ state: 'editing', typed: { price: 'free', name: 'Acer' } }], 'merged')
  const plant = { ...FIR, price: 3 }
  drafts.observe({ id: FIR.id, plant })
  t.match(drafts.all, [{ state: 'conflict', typed: { price: 'free' }, contested: ['price'] }])
  t.same(calls, [])
})

t.test('a deletion does not depend on what was typed', async (t) => {
  const drafts = new Drafts()
  edit(drafts, { price: 'free' })
  const { calls, saver } = recorder(FIR)
  await drafts.delete(FIR, saver)
  t.strictSame(calls, [{ op: 'remove', id: FIR.id }])
})

t.test('a limit that the service checks is reported at its field', async (t) => {
  const { client, saver } = recorder(FIR)
  const changePlants = async () => {
    throw new ServiceError('invalid-body', 'body/0/height must be an int32 from 0 to 10000 or null')
  }
  Object.assign(client, { changePlants })
  const drafts = new Drafts()
  const key = edit(drafts, { height: '10001' })
  await drafts.send(key, saver)
  const problem = 'Height in cm must be a whole number from 0 to 10000.'
  t.match(drafts.open, { state: 'refused', problem, problemField: 'height' })
})

t.test('any member can be the one that the service refuses', async (t) => {
  describeService(
    t,
    extendContract(loadContract(), [{ name: 'a/b~c', schema: { type: 'string', title: 'ABC' } }]),
  )
  const explained = (message: string) => explainField(new ServiceError('invalid-body', message))
  const problem = 'ABC must not be empty.'
  t.strictSame(explained('body/a~1b~0c must not be empty'), { name: 'a/b~c', problem })
  t.strictSame(explained('body/name must be text'), { name: 'name', problem: 'Name must be text.' })
  t.strictSame(explained('body must be an object'), {})
  t.strictSame(explained('body/0/name must be text'), explained('body/name must be text'))
  const taken = explainField(new ServiceError('plant-exists', 'body/0: plant 7 already exists'))
  t.strictSame(taken, { name: 'id', problem: 'Plant 7 already exists.' })
  t.strictSame(explainField(new ServiceError('plant-changed', 'body/name differs')), {})
  t.strictSame(explainField(new TypeError('body/name is a bug')), {})
})
