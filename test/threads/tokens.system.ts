/** Tokens that are revoked while several threads serve. test/consistency/ judges what clients see of plants. */

import t from 'tap'
import { TokenStore } from '../../service/token-store.ts'
import { AccessTokens } from '../../src/auth/access-tokens.ts'
import { openStore } from '../../src/stores/engines.ts'
import { ask, formatRequest, openLines } from '../helpers/service/threads.ts'
import { sharedService } from './shared-service.ts'

const service = await sharedService()
const { database } = service

t.test('a revoked token is rejected by all threads at once', async (t) => {
  const lines = await openLines(t, service, 2)
  const store = await openStore({ database, lockTimeout: 30_000, sameThread: true })
  t.teardown(() => store.close())
  for (let round = 0; round < 5; round++) {
    const issued = await service.issueToken(`token ${round}`, ['read'])
    const read = async () => {
      const request = formatRequest(issued, 'GET /plants?limit=1')
      const answers = await Promise.all(lines.map(({ socket }) => ask(socket, request)))
      return new Set(answers.map(({ status }) => status))
    }
    t.same(await read(), new Set([200]), 'it is valid')
    await new AccessTokens(new TokenStore(store)).revoke(`token ${round}`)
    t.same(await read(), new Set([401]), 'it is revoked')
  }
})
