import t, { type Test } from 'tap'
import { loadContract } from '../../contract/contract.ts'
import { AccessTokens } from '../../service/access-tokens.ts'
import { defaultConfig } from '../../src/config/config.ts'
import { type HttpServer, prepareHttpServer } from '../../src/http-threads/http-server.ts'
import { openStore } from '../../src/stores/engines.ts'

async function prepare(t: Test, contract = loadContract()): Promise<HttpServer> {
  const config = { ...defaultConfig(), database: ':memory:' }
  const store = await openStore(config)
  t.teardown(() => store.close())
  const tokens = new AccessTokens(store)
  const checkReady = () => store.ping()
  return prepareHttpServer({ config, contract, store, tokens, threads: 1, checkReady })
}

t.test('without an admin port, a server measures nothing', async (t) => {
  const server = await prepare(t)
  t.same(await server.readMetrics(), [])
  await server.close()
})

t.test('a contract that is not valid OpenAPI is not served', async (t) => {
  const log = t.capture(console, 'log')
  const contract = Object.assign(loadContract(), { tags: 'plants' })
  await t.rejects(prepare(t, contract), { message: /valid specification/ })
  t.match(log()[0]?.args[0], /"instancePath": "\/tags"/, 'the reason is printed')
})
