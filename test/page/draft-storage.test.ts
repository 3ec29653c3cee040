/** Drafts while the person signs in at the issuer. */
import t from 'tap'
import { forgetStash, stashDrafts, unstashDrafts } from '../../page/drafts/draft-storage.ts'
import { Drafts, type Saver } from '../../page/drafts/drafts.ts'
import { blockStorage, openTab } from './tab.ts'

const LARGE = 2n ** 63n - 1n

t.test('drafts are copied to the storage of the tab, and back', async (t) => {
  const tab = openTab(t)
  const before = new Drafts()
  before.edit({ id: LARGE, name: 'Acer', tag: 'Tree' })
  before.type(Number(before.open?.key), { name: 'mine', tag: undefined })
  before.add('7')
  before.type(Number(before.open?.key), { name: 'new' })
  t.equal(stashDrafts(before), true)
  t.equal(before.unsaved.length, 2, 'they stay in view until the page is left')

  const drafts = new Drafts()
  unstashDrafts(drafts)
  t.equal(tab.sessionStorage.size, 0)
  t.match(drafts.all, [
    { typed: { id: `${LARGE}`, name: 'mine', tag: undefined }, before: { id: LARGE, tag: 'Tree' } },
    { typed: { name: 'new' }, before: undefined },
  ])
  t.match(drafts.open, { typed: { id: '7' } })
  t.same(drafts.of(LARGE), drafts.all[0])
  drafts.close()
  drafts.edit({ id: 5n, name: 'Abies' })
  t.equal(new Set(drafts.all.map(({ key }) => key)).size, 3)
  unstashDrafts(drafts)
  t.equal(drafts.all.length, 3, 'only once')
})

t.test('a draft that is being sent when the page is left may be saved', async (t) => {
  openTab(t)
  const drafts = new Drafts()
  const client = { deletePlant: () => {}, getPlant: () => new Promise(() => {}) }
  drafts.delete({ id: 1n, name: 'Acer' }, { client, canRead: true } as unknown as Saver)
  t.match(drafts.all, [{ state: 'sending' }])
  stashDrafts(drafts)
  unstashDrafts(drafts)
  t.match(drafts.all, [{ state: 'unsent', isDeletion: true }])
})

t.test('nothing is stored unless a change would be lost', async (t) => {
  const tab = openTab(t)
  const drafts = new Drafts()
  drafts.edit({ id: 1n, name: 'Acer' })
  t.equal(stashDrafts(drafts), false)
  t.equal(tab.sessionStorage.size, 0)
})

t.test('a copy that is forgotten does not come back', async (t) => {
  openTab(t)
  const drafts = new Drafts()
  drafts.add('1')
  drafts.type(Number(drafts.open?.key), { name: 'new' })
  stashDrafts(drafts)
  forgetStash()
  drafts.clear()
  unstashDrafts(drafts)
  t.same(drafts.all, [])
})

t.test('drafts that are too large for the storage stay', async (t) => {
  const tab = openTab(t)
  tab.sessionStorage.setItem = () => {
    throw new DOMException('too large', 'QuotaExceededError')
  }
  const drafts = new Drafts()
  drafts.add('1')
  drafts.type(Number(drafts.open?.key), { name: 'new' })
  t.equal(stashDrafts(drafts), false, 'so the browser asks whether to leave the page')
  t.equal(drafts.unsaved.length, 1)
})

t.test('without storage, drafts stay', async (t) => {
  openTab(t)
  blockStorage(t)
  const drafts = new Drafts()
  drafts.add('1')
  drafts.type(Number(drafts.open?.key), { name: 'new' })
  stashDrafts(drafts)
  unstashDrafts(drafts)
  t.equal(drafts.unsaved.length, 1)
})
