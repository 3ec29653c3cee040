import t from 'tap'
import { loadContract } from '../../contract/contract.ts'
import { AccessTokens } from '../../service/access-tokens.ts'
import { defaultConfig } from '../../src/config/config.ts'
import { prepareHttpServer } from '../../src/http-threads/http-server.ts'
import { openStore } from '../../src/stores/engines.ts'

t.test('without an admin port, a server measures nothing', async (t) => {
  const config = { ...defaultConfig(), database: ':memory:' }
  const store = await openStore(config)
  t.teardown(() => store.close())
  const tokens = new AccessTokens(store)
  const server = await prepareHttpServer({
    config,
    contract: loadContract(),
    store,
    tokens,
    threads: 1,
    checkReady: () => store.ping(),
  })
  t.same(await server.readMetrics(), [])
  await server.close()
})
