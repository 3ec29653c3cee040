/** Drafts that survive when the page is left, reloaded or crashes. */
import t from 'tap'
import { TabStorage } from '../../page/access/tab-storage.ts'
import { DraftStorage } from '../../page/drafts/draft-storage.ts'
import { Drafts, type Saver } from '../../page/drafts/drafts.ts'
import { openTab } from './tab.ts'

const LARGE = 2n ** 63n - 1n

/** Drafts of a page that opens with a storage. */
async function openPage(storage: TabStorage) {
  const drafts = new Drafts()
  const kept = new DraftStorage(drafts, storage)
  await kept.load()
  return { drafts, kept }
}

t.test('drafts are kept as they are typed, and read again', async (t) => {
  openTab(t)
  const storage = new TabStorage()
  const { drafts: before, kept } = await openPage(storage)
  before.edit({ id: LARGE, name: 'Acer', tag: 'Tree' })
  before.type(Number(before.open?.key), { name: 'mine', tag: undefined })
  before.add('7')
  before.type(Number(before.open?.key), { name: 'new' })
  t.equal(await kept.stored(), false, 'memory does not outlive the page')

  const { drafts } = await openPage(storage)
  t.match(drafts.all, [
    { typed: { id: `${LARGE}`, name: 'mine', tag: undefined }, before: { id: LARGE, tag: 'Tree' } },
    { typed: { name: 'new' }, before: undefined },
  ])
  t.match(drafts.open, { typed: { id: '7' } })
  t.same(drafts.of(LARGE), drafts.all[0])
  drafts.close()
  drafts.edit({ id: 5n, name: 'Abies' })
  t.equal(new Set(drafts.all.map(({ key }) => key)).size, 3)
})

t.test('drafts that are saved are discarded, and others stay', async (t) => {
  openTab(t)
  const { drafts, kept } = await openPage(new TabStorage())
  const type = (name: string) => drafts.type(Number(drafts.open?.key), { name })
  for (const [id, name] of [
    [1n, 'saved'],
    [2n, 'not saved'],
    [3n, 'of a deleted plant'],
    [4n, 'being sent'],
  ] as const) {
    drafts.edit({ id, name: 'Acer', tag: 'Tree' })
    type(name)
  }
  const unanswered = () => new Promise<never>(() => {})
  const saver: Saver = { save: unanswered, onSaved: () => {} }
  drafts.send(Number(drafts.open?.key), saver)
  drafts.add('no id')
  type('refused')
  drafts.send(Number(drafts.open?.key), saver)
  drafts.add('5')
  type('added')
  const plants = async function* ({ id = [] }: { id?: readonly bigint[] }) {
    t.same(id, [1n, 2n, 3n, 5n])
    // While the plants are read, a deletion fails.
    const save = () => Promise.reject(new Error('this is a test'))
    await drafts.delete({ id: 6n, name: 'Abies' }, { ...saver, save })
    yield { id: 1n, name: 'saved', tag: 'Shrub' }
    yield { id: 2n, name: 'Acer', tag: 'Tree' }
    yield { id: 5n, name: 'added' }
  }
  const client = { plants } as unknown as Parameters<typeof kept.discardSaved>[0]
  await kept.discardSaved(client, new AbortController().signal)
  t.same(
    drafts.all.map(({ typed }) => typed.name),
    ['not saved', 'of a deleted plant', 'being sent', 'refused', 'Abies'],
  )
})

t.test('nothing is kept unless a change would be lost', async (t) => {
  openTab(t)
  const storage = new TabStorage()
  const { drafts, kept } = await openPage(storage)
  drafts.edit({ id: 1n, name: 'Acer' })
  await kept.stored()
  t.same(await storage.names(), [])
  drafts.type(Number(drafts.open?.key), { name: 'mine' })
  await kept.stored()
  t.same(await storage.names(), ['drafts'])
  drafts.clear()
  await kept.stored()
  t.same(await storage.names(), [])
})

t.test('drafts that are too large for the storage stay', async (t) => {
  openTab(t)
  const storage = new TabStorage()
  t.intercept(storage, 'set', { value: () => Promise.reject(new DOMException('full')) })
  t.intercept(storage, 'isLasting', { value: async () => true })
  const { drafts, kept } = await openPage(storage)
  drafts.add('1')
  drafts.type(Number(drafts.open?.key), { name: 'new' })
  t.equal(await kept.stored(), false, 'so the browser asks whether to leave the page')
  t.equal(drafts.unsaved.length, 1)
  drafts.clear()
  t.equal(await kept.stored(), true)
})

t.test('drafts that another tab has deleted are stored again', async (t) => {
  openTab(t)
  const storage = new TabStorage()
  const { drafts, kept } = await openPage(storage)
  drafts.add('1')
  drafts.type(Number(drafts.open?.key), { name: 'new' })
  await kept.stored()
  await storage.clear()
  await kept.stored()
  t.same(await storage.names(), ['drafts'])
})

t.test('drafts are kept although those of earlier cannot be read', async (t) => {
  openTab(t)
  const storage = new TabStorage()
  await storage.set({ drafts: '{' })
  const drafts = new Drafts()
  const kept = new DraftStorage(drafts, storage)
  await t.rejects(kept.load(), SyntaxError)
  drafts.add('1')
  drafts.type(Number(drafts.open?.key), { name: 'new' })
  await kept.stored()
  t.match(await storage.get('drafts'), 'new')
})
