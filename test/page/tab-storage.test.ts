/** The storage of a tab in a browser without IndexedDB. Chromium tests the other one. */
import t from 'tap'
import { TabStorage } from '../../page/access/tab-storage.ts'
import { blockStorage, MemoryStorage, openTab } from './tab.ts'

t.test('text is kept in memory', async (t) => {
  openTab(t)
  const storage = new TabStorage()
  t.equal(await storage.isLasting(), false)
  t.same([await storage.names(), await storage.get('a')], [[], undefined])
  await storage.set({ a: 'one', b: 'two' })
  await storage.set({ b: 'three', c: '' })
  t.same(await storage.names(), ['a', 'b', 'c'])
  t.same(await Promise.all(['a', 'b', 'c'].map((name) => storage.get(name))), ['one', 'three', ''])
  await storage.delete(['a', 'c', 'unknown'])
  t.same(await storage.names(), ['b'])
  await storage.clear()
  t.same(await storage.names(), [])
})

t.test('text belongs to one owner', async (t) => {
  openTab(t)
  const storage = new TabStorage()
  t.equal(storage.owner, undefined)
  await storage.set({ a: 'one' })
  await storage.handOver({ id: '1', name: 'ada' })
  t.same([storage.owner, await storage.names()], [{ id: '1', name: 'ada' }, []])
  await storage.set({ b: 'two' })
  await storage.clear()
  t.same([storage.owner, await storage.names()], [undefined, []])
})

t.test('a browser that blocks storage, or has no room, keeps text all the same', async (t) => {
  const full = new MemoryStorage()
  full.setItem = () => {
    throw new DOMException('full', 'QuotaExceededError')
  }
  openTab(t, { sessionStorage: full })
  const storages = [new TabStorage()]
  blockStorage(t)
  storages.push(new TabStorage())
  for (const storage of storages) {
    await storage.set({ a: 'one' })
    t.equal(await storage.get('a'), 'one')
  }
})
