/** The page's token: what the service says about it, and where the browser keeps it. */
import t from 'tap'
import { forgetToken, openSession, storedToken, storeToken } from '../../page/access/session.ts'
import { startService } from '../helpers/service.ts'

/** The parts of the browser's storage that the page uses. */
class MemoryStorage extends Map<string, string> {
  getItem(key: string): string | null {
    return this.get(key) ?? null
  }
  setItem(key: string, value: string): void {
    this.set(key, value)
  }
  removeItem(key: string): void {
    this.delete(key)
  }
}

t.beforeEach((t) => {
  for (const name of ['sessionStorage', 'localStorage']) {
    t.intercept(globalThis, name as never, { value: new MemoryStorage() })
  }
})

t.test('a token is kept for the tab, or in the browser, until it is forgotten', async (t) => {
  t.equal(storedToken(), undefined)
  for (const [lasting, storage] of [
    [false, sessionStorage],
    [true, localStorage],
  ] as const) {
    storeToken('plant_x', lasting)
    t.equal(storedToken(), 'plant_x')
    t.equal((storage as unknown as MemoryStorage).size, 1)
    forgetToken()
    t.equal(storedToken(), undefined)
  }
})

t.test('a session knows what its token permits', async (t) => {
  const service = await startService(t)
  t.intercept(globalThis, 'location', { value: new URL(`${service.url}/?from=bookmark`) as never })
  const reader = await service.issueToken('reader', ['read'])
  t.match(await openSession(reader), { canRead: true, canWrite: false, token: { name: 'reader' } })
  const writer = await service.issueToken('writer', ['write'])
  t.match(await openSession(writer), { canRead: false, canWrite: true })
  await t.rejects(openSession('wrong'), { name: 'PlantStoreError' })
})
