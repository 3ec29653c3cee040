/** GET /token: the token of the request. */

import t from 'tap'
import type { Scope } from '../../../core/contract/scopes.ts'
import { restrict } from '../../../service/restriction.ts'
import { makeMirror } from '../../helpers/service/mirrors.ts'
import { type Service, startService } from '../../helpers/service/service.ts'

const SETTING = 'a-token-from-the-settings'

let service: Service
t.before(async () => {
  service = await startService(t, { config: { token: SETTING } })
})

const call = { method: 'GET', path: '/token' }
const DAY_MS = 86_400_000

t.test('a token can see its name and scopes, whatever its scopes are', async (t) => {
  const lists: Scope[][] = [['read'], ['write'], ['read', 'write']]
  for (const scopes of lists) {
    const name = scopes.join(' and ')
    const token = await service.issueToken(name, scopes)
    t.strictSame((await service.call({ ...call, token })).json, { name, scopes })
  }
})

t.test('a token can see when it expires', async (t) => {
  const start = Date.now()
  const token = await service.issueToken('expiring', ['read'], DAY_MS)
  const { json } = await service.call({ ...call, token })
  const { expiresAt } = json as { expiresAt: string }
  const time = new Date(expiresAt)
  t.equal(time.toISOString(), expiresAt)
  t.ok(time.getTime() >= start + DAY_MS && time.getTime() <= Date.now() + DAY_MS)
})

t.test('a time that RFC 3339 cannot represent counts as never', async (t) => {
  const token = await service.issueToken('eternal', ['read'], Number.POSITIVE_INFINITY)
  t.strictSame((await service.call({ ...call, token })).json, { name: 'eternal', scopes: ['read'] })
})

t.test(
  'while nobody can change plants, every token sees why, as a refused change says it',
  async (t) => {
    const mirror = await startService(t)
    await makeMirror(mirror.store)
    const frozen = await startService(t)
    await restrict(frozen.store, { expected: undefined, next: 'frozen' })
    const cases = [
      [mirror, 'this service is a read-only mirror: send changes to https://plants.example'],
      [frozen, 'changes are frozen while the plants move to another database'],
    ] as const
    for (const [service, readOnlyReason] of cases) {
      const token = await service.issueToken('writer', ['write'])
      const described = { name: 'writer', scopes: ['write'], readOnlyReason }
      t.strictSame((await service.call({ ...call, token })).json, described)
      const { json } = await service.call({ token, body: { id: 4n, name: 'Abies alba' } })
      const { message } = json as { message: string }
      t.ok(message.endsWith(readOnlyReason), message)
    }
    await restrict(frozen.store, { expected: 'frozen', next: undefined })
    t.notHas((await frozen.call(call)).json, { readOnlyReason: String })
  },
)

t.test('a token from the settings has a name, too', async (t) => {
  const expected = { name: 'PLANT_STORE_TOKEN', scopes: ['read', 'write'] }
  t.strictSame((await service.call({ ...call, token: SETTING })).json, expected)
})

t.test('nothing else about a token is revealed, and no one else sees it', async (t) => {
  for (const token of [null, 'unknown']) {
    t.equal((await service.call({ ...call, token })).status, 401)
  }
  const { headers } = await service.call(call)
  t.equal(headers['cache-control'], 'no-store')
})
