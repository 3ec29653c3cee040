import type { Test } from 'tap'
import type { PlantStore } from '../../service/plant-store.ts'
import { type AcquireSlot, SHORT_READ } from '../../service/short-read.ts'
import { createAll } from '../helpers/lists.ts'
import { type Engine, opener } from './store-suite.ts'

type Read = (acquireSlot?: AcquireSlot) => Promise<unknown>

/** The requirements of AcquireSlot: short reads do not wait for a slot, and long reads begin after it. */
export function longReadSuite(t: Test, engine: Engine): void {
  const { rows, text } = SHORT_READ
  let store: PlantStore
  let start: string
  t.before(async () => {
    const open = await opener(t, engine)
    store = await open()
    start = await cursorAtEnd(store)
    const name = 'x'.repeat(text / 4)
    await createAll(store, [
      // Ids 1 to 4 are a short read together, but not with id 5.
      ...Array.from({ length: 3 }, (_, index) => ({ id: BigInt(index) + 1n, name })),
      { id: 4n, name: name.slice(200), tag: 'Tree' },
      { id: 5n, name: 'y'.repeat(200) },
      { id: 6n, name: 'z'.repeat(text + 1) },
      ...Array.from({ length: rows + 1 }, (_, index) => ({ id: BigInt(index) + 7n, name: 'a' })),
    ])
  })

  const short: Record<string, Read> = {
    'a small plant': (slot) => store.get(5n, slot),
    'no plant': (slot) => store.get(0n, slot),
    'a page that ends before it is long': (slot) => store.list({ limit: 4 }, slot),
    'a page of a tag': (slot) => store.list({ limit: 1000, tag: 'Tree' }, slot),
    'as many plants as are short': (slot) => store.list({ after: 6n, limit: rows }, slot),
    'few plants, although many may be listed': (slot) =>
      store.list({ after: 7n, limit: 1000 }, slot),
    'plants by their ids': (slot) => store.getAll([0n, 1n, 2n, 3n, 4n], slot),
    'no changes': (slot) => store.readChanges({ after: 'latest', limit: 1000 }, slot),
  }
  const long: Record<string, Read> = {
    'a large plant': (slot) => store.get(6n, slot),
    'a page of much text': (slot) => store.list({ limit: 5 }, slot),
    'a page with a large plant': (slot) => store.list({ after: 4n, limit: 3 }, slot),
    'a page of many plants': (slot) => store.list({ after: 6n, limit: 1000 }, slot),
    'many plants by their ids': (slot) =>
      store.getAll(
        Array.from({ length: rows + 1 }, (_, index) => BigInt(index) + 7n),
        slot,
      ),
    'plants with much text by their ids': (slot) => store.getAll([1n, 2n, 3n, 4n, 5n], slot),
    'a large plant by its id': (slot) => store.getAll([0n, 6n, 7n], slot),
    'a search': (slot) => store.search({ text: 'y', limit: 1 }, slot),
    'a count': (slot) => store.count({ text: '', tag: 'unused' }, slot),
    tags: (slot) => store.listTags({ limit: 1 }, slot),
    'changes with much text': (slot) => store.readChanges({ after: start, limit: 5 }, slot),
    'many changes': async (slot) => {
      const before = (await store.readChanges({ after: start, limit: 6 })) as { next: string }
      return store.readChanges({ after: before.next, limit: 1000 }, slot)
    },
  }

  for (const [what, read] of Object.entries(short)) {
    t.test(`${what}: a short read`, async (t) => {
      const acquireSlot = () => Promise.reject(new Error('it waits for a slot'))
      t.strictSame(await read(acquireSlot), await read())
    })
  }

  for (const [what, read] of Object.entries(long)) {
    t.test(`${what}: a long read`, async (t) => {
      let slots = 0
      const acquireSlot = async () => {
        slots++
      }
      t.strictSame(await read(acquireSlot), await read())
      t.equal(slots, 1)
      const refusal = new Error('no slot')
      await t.rejects(
        read(() => Promise.reject(refusal)),
        refusal,
      )
    })
  }
}

async function cursorAtEnd(store: PlantStore): Promise<string> {
  const page = await store.readChanges({ after: 'latest', limit: 1 })
  return (page as { next: string }).next
}
