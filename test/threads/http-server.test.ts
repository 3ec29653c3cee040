import t, { type Test } from 'tap'
import { type ContractDocument, loadContract } from '../../core/contract/contract.ts'
import { defaultConfig, storeOptions } from '../../src/config/config.ts'
import { openStore } from '../../src/stores/engines.ts'
import { type HttpServer, prepareHttpServer } from '../../src/threads/http-server.ts'

async function prepare(t: Test, contract = loadContract()): Promise<HttpServer> {
  const config = { ...defaultConfig(), database: ':memory:' }
  const store = await openStore(storeOptions(config))
  t.teardown(() => store.close())
  return prepareHttpServer({ config, contract, store })
}

t.test('without an admin port, a server measures nothing', async (t) => {
  const server = await prepare(t)
  t.same(await server.readMetrics(), [])
  await server.close()
})

t.test('a contract that is not valid OpenAPI is not served', async (t) => {
  const log = t.capture(console, 'log')
  const contract = { ...loadContract(), tags: 'plants' }
  await t.rejects(prepare(t, contract), { message: /valid specification/ })
  t.match(log()[0]?.args[0], /"instancePath": "\/tags"/, 'the reason is printed')
})

t.test('an operation without a handler is not served', async (t) => {
  const { paths, ...rest } = loadContract()
  const { get } = paths['/plants'] as NonNullable<(typeof paths)[string]>
  const contract = { ...rest, paths: { ...paths, '/trees': { get: { ...get, operationId: 'x' } } } }
  await t.rejects(prepare(t, contract as ContractDocument), {
    message: 'the operation x has no handler',
  })
})
