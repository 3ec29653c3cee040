import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { CONTRACT_FILE, loadContract } from '../../contract/contract.ts'
import { forSerializer, loadRoutes, type OperationRoute } from '../../contract/routes.ts'
import { unmeasured } from '../helpers/command.ts'

/** The maximum of `GET /plants?limit`. */
function limitOf(routes: readonly OperationRoute[]): number {
  const route = routes.find(({ schema }) => schema.operationId === 'listPlants')
  const query = route?.schema.querystring as { properties: { limit: { maximum: number } } }
  return query.properties.limit.maximum
}

t.test('every operation has a route, from what was generated', async (t) => {
  const document = loadContract()
  const routes = await loadRoutes(document)
  t.same(
    routes.map(({ schema }) => schema.operationId),
    Object.values(document.paths).flatMap((item) =>
      Object.values(item).map(({ operationId }) => operationId),
    ),
  )
  t.equal(limitOf(routes), 1000)
})

t.test('loading the generated contract and routes loads no packages', async (t) => {
  const [preload, contract, routes] = [
    '../stores/loaded-packages.ts',
    '../../contract/contract.ts',
    '../../contract/routes.ts',
  ].map((file) => new URL(file, import.meta.url).href)
  const script = `import { loadContract } from '${contract}'
    import { loadRoutes } from '${routes}'
    await loadRoutes(loadContract())`
  const nodeArgs = ['--import', String(preload), '--input-type=module', '--eval', script]
  const { stderr } = spawnSync(...unmeasured([process.execPath, ...nodeArgs]), { encoding: 'utf8' })
  t.same(JSON.parse(stderr), [])
})

t.test('a changed contract is read and checked again', async (t) => {
  const file = join(t.testdir(), 'openapi.yaml')
  const text = readFileSync(CONTRACT_FILE, 'utf8')
  writeFileSync(file, text.replaceAll('maximum: 1000', 'maximum: 7'))
  const document = loadContract(pathToFileURL(file))
  t.equal(limitOf(await loadRoutes(document)), 7)
})

t.test('the contract for the serializer has one schema for all kinds of changes', async (t) => {
  const { components } = forSerializer(loadContract())
  const { type, oneOf, properties = {} } = components.schemas.Change ?? {}
  t.strictSame([type, oneOf], ['object', undefined])
  t.strictSame(Object.keys(properties).sort(), ['at', 'cursor', 'id', 'plant', 'type'])
  t.ok(properties.plant, 'the plant of a change with one')
})
