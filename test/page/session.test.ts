/** The page's token: what the service says about it, and where the browser keeps it. */
import t from 'tap'
import { isRejected } from '../../page/access/rejection.ts'
import { forgetToken, openSession, storedToken, storeToken } from '../../page/access/session.ts'
import { AccessTokens } from '../../service/access-tokens.ts'
import { thrownBy } from '../client/faulty-proxy.ts'
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

t.test('without storage, a token is not kept', async (t) => {
  t.intercept(globalThis, 'sessionStorage' as never, {
    get: () => {
      throw new DOMException('Access is denied for this document.', 'SecurityError')
    },
  })
  storeToken('plant_x', false)
  t.equal(storedToken(), undefined)
  forgetToken()
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

t.test('a session notices that its token is no longer accepted', async (t) => {
  const service = await startService(t)
  t.intercept(globalThis, 'location', { value: new URL(`${service.url}/`) as never })
  const token = await service.issueToken('revoked', ['read'])
  const { client, feedClient, rejected } = await openSession(token)
  await client.listPlants()
  t.equal(rejected.aborted, false)
  await new AccessTokens(service.store).revoke('revoked')
  t.ok(isRejected(await thrownBy(feedClient.listChanges())))
  t.equal(rejected.aborted, true)
})
