/** What takes changes back, in the storage of a tab. */
import t, { type Test } from 'tap'
import { TabStorage } from '../../../page/access/tab-storage.ts'
import type { Intent } from '../../../page/changes/intent.ts'
import { ForgottenError, UndoLog } from '../../../page/changes/undo-log.ts'
import { describeService, FIR } from '../own-fields/nursery.ts'
import { openTab } from '../tab.ts'
import { adding, named, removing, tagging } from './run.ts'

/** A log without operations. */
function openLog(t: Test, lengthMax?: number) {
  openTab(t)
  const storage = new TabStorage()
  return { storage, log: new UndoLog(storage, lengthMax) }
}

async function readIntents(log: UndoLog, key = log.operations.at(-1)?.key): Promise<Intent[]> {
  const operation = log.find(Number(key))
  if (operation === undefined) return []
  const intents = await Array.fromAsync(log.intents(operation))
  return intents.map(({ id, before, after }) => ({ id, before, after }))
}

const titles = ({ operations }: UndoLog) => operations.map(({ title }) => title)

t.test('an operation appears once it has changed a plant', async (t) => {
  const { storage, log } = openLog(t)
  let changes = 0
  const stop = log.subscribe(() => {
    changes += 1
  })
  const key = log.begin('Saved', 'Acer')
  await log.add(key, [])
  t.same(log.operations, [])
  t.same([changes, await storage.names()], [0, []])
  await log.add(key, named('Acer', 1, 2).map(removing), 3)
  t.match(log.operations, [{ key, title: 'Saved', label: 'Acer', count: 2, unknown: 3, parts: 1 }])
  t.equal(changes, 1)
  await log.add(key, named('Acer', 3, 1).map(removing), 1)
  t.match(log.operations, [{ count: 3, unknown: 4, parts: 2 }])
  await log.add(log.begin('Imported'), [], 5)
  t.equal(log.operations.length, 1, 'it has changed no plant that is known')
  stop()
})

t.test('the latest change is taken back first', async (t) => {
  const { log } = openLog(t)
  const key = log.begin('Changed')
  const plants = named('Acer', 1, 5)
  await log.add(key, plants.slice(0, 2).map(adding))
  await log.add(key, plants.slice(2, 3).map(removing))
  await log.add(key, plants.slice(3).map(tagging('Tree')))
  const intents = await readIntents(log)
  t.same(
    intents.map(({ id }) => id),
    [5n, 4n, 3n, 2n, 1n],
  )
  t.same(intents, [
    ...plants.slice(3).map(tagging('Tree')).toReversed(),
    ...plants.slice(2, 3).map(removing),
    ...plants.slice(0, 2).map(adding).toReversed(),
  ])
})

t.test('a page that is loaded again has the same operations', async (t) => {
  const { storage, log } = openLog(t)
  const keys = ['first', 'second', 'third'].map((title) => log.begin(title, 'label'))
  for (const [index, key] of keys.toReversed().entries()) {
    await log.add(key, named('Acer', index * 10, 3).map(adding), index)
    await log.add(key, named('Acer', index * 10 + 3, 3).map(adding))
  }
  await log.remove(Number(keys[1]))
  log.begin('has changed nothing')
  const later = new UndoLog(storage)
  await later.load()
  t.strictSame(later.operations, log.operations)
  t.same(titles(later), ['first', 'third'])
  t.same(await readIntents(later), await readIntents(log))
  t.equal((await readIntents(later)).length, 6)
  t.notOk(keys.includes(later.begin('fourth')))
})

t.test('ids and own fields are exact', async (t) => {
  describeService(t)
  const { storage, log } = openLog(t)
  const { id: _id, ...before } = FIR
  const after = { ...before, id2: 2n ** 63n - 1n, price: 1e-7, name: '\u{1f331}\ud800"' }
  const intents = [
    { id: -(2n ** 63n), before, after },
    { id: 2n ** 63n - 1n, before, after: undefined },
  ]
  await log.add(log.begin('Saved'), intents)
  const later = new UndoLog(storage)
  await later.load()
  t.strictSame(await readIntents(later), intents.toReversed())
})

t.test('an operation that is removed leaves nothing', async (t) => {
  const { storage, log } = openLog(t)
  const [first, second] = [log.begin('first'), log.begin('second')]
  for (const key of [first, second, first]) await log.add(key, named('Acer', 1, 2).map(adding))
  const operation = log.find(first)
  await log.remove(first)
  await log.remove(first)
  await log.add(first, named('Acer', 1, 2).map(adding))
  t.same(titles(log), ['second'])
  t.same(await storage.names(), ['operation 2 part 0', 'operation 2'])
  const forgotten = operation && Array.fromAsync(log.intents(operation))
  await t.rejects(Promise.resolve(forgotten), new ForgottenError())
  await log.clear()
  t.same([log.operations, await storage.names()], [[], []])
})

t.test('the oldest operations that have changed plants are forgotten', async (t) => {
  const { storage, log } = openLog(t)
  await log.load()
  for (let index = 0; index < 25; index += 1) {
    log.begin('canceled')
    await log.add(log.begin(`change ${index}`), named('Acer', index, 1).map(adding))
  }
  t.equal(log.operations.length, 20)
  t.same([titles(log)[0], titles(log).at(-1)], ['change 5', 'change 24'])
  t.equal((await storage.names()).length, 40)
})

t.test('operations whose text is too long are forgotten, the oldest first', async (t) => {
  // 100 characters.
  const text = named('a'.repeat(70), 1, 1).map(adding)
  const { storage, log } = openLog(t, 399)
  const [first, second, third] = [log.begin('first'), log.begin('second'), log.begin('third')]
  for (const key of [first, second, second]) await log.add(key, text)
  t.same(titles(log), ['first', 'second'])
  await log.add(third, text)
  t.same(titles(log), ['second', 'third'])
  for (let index = 0; index < 5; index += 1) await log.add(third, text)
  t.same(titles(log), [], 'also one that is too long alone')
  t.same(await storage.names(), [])
})

t.test('an operation for which the browser has no room is forgotten', async (t) => {
  const { storage, log } = openLog(t)
  const [first, second] = [log.begin('first'), log.begin('second')]
  const one = named('Acer', 1, 1).map(adding)
  await log.add(first, one)
  await log.add(second, one)
  const full = t.intercept(storage, 'set', {
    value: () => Promise.reject(new DOMException('full', 'QuotaExceededError')),
    configurable: true,
  })
  await log.add(second, one)
  t.same(titles(log), ['first'])
  full.restore()
  await log.add(second, one)
  t.same(await storage.names(), ['operation 1 part 0', 'operation 1'])
})

t.test('an operation is forgotten even if the browser no longer deletes anything', async (t) => {
  const { storage, log } = openLog(t)
  const key = log.begin('first')
  await log.add(key, named('Acer', 1, 1).map(adding))
  const closed = () => Promise.reject(new DOMException('closing', 'InvalidStateError'))
  for (const name of ['set', 'delete'] as const) t.intercept(storage, name, { value: closed })
  await log.add(key, named('Acer', 2, 1).map(adding))
  t.same(log.operations, [])
})

t.test('operations that happen at the same time are kept apart', async (t) => {
  const { storage, log } = openLog(t)
  const [first, second] = [log.begin('first'), log.begin('second')]
  const plants = named('Acer', 1, 20).map(adding)
  const added = plants.map((intent, index) => log.add(index % 2 === 0 ? first : second, [intent]))
  await Promise.all(added)
  const later = new UndoLog(storage)
  await later.load()
  for (const [key, remainder] of [
    [first, 1n],
    [second, 0n],
  ] as const) {
    const ids = (await readIntents(later, key)).map(({ id }) => id)
    const expected = plants.map(({ id }) => id).filter((id) => id % 2n === remainder)
    t.same(ids, expected.toReversed())
  }
})

t.test('what is said of the latest change ends with the log', async (t) => {
  const { log } = openLog(t)
  let changes = 0
  log.subscribe(() => {
    changes += 1
  })
  log.announce({ title: 'Saved', label: 'Acer' })
  t.strictSame([log.announcement, changes], [{ title: 'Saved', label: 'Acer' }, 1])
  log.begin('Saved', 'Abies')
  t.equal(log.announcement, undefined, 'another operation ends it')
  log.announce({ title: 'Saved', label: 'Abies' })
  await log.clear()
  t.equal(log.announcement, undefined)
})
