/** Tokens that are revoked while several threads serve. test/consistency/ judges what clients see of plants. */
import t from 'tap'
import { AccessTokens } from '../../service/access-tokens.ts'
import { openStore } from '../../src/stores/engines.ts'
import { runHere } from '../helpers/command-here.ts'
import { ask, formatRequest, openLines } from '../helpers/threads.ts'
import { sharedService } from './shared-service.ts'

const service = await sharedService()
const { database } = service

t.test('a revoked token is rejected by all threads at once', async (t) => {
  const lines = await openLines(t, service, 2)
  const revocations = {
    'the command line': (name: string) =>
      runHere(['token', 'revoke', name, '--database', database]),
    'another connection': async (name: string) => {
      const store = await openStore({ database, lockTimeout: 30_000, sameThread: true })
      await new AccessTokens(store).revoke(name)
      await store.close()
    },
  }
  for (const [by, revoke] of Object.entries(revocations)) {
    for (let round = 0; round < 5; round++) {
      const name = `${by} ${round}`
      const issued = await service.issueToken(name, ['read'])
      const read = async () => {
        const request = formatRequest(issued, 'GET /plants?limit=1')
        const answers = await Promise.all(lines.map(({ socket }) => ask(socket, request)))
        return new Set(answers.map(({ status }) => status))
      }
      t.same(await read(), new Set([200]), `${name} is valid`)
      await revoke(name)
      t.same(await read(), new Set([401]), `${name} is revoked`)
    }
  }
})
