import { createRequire } from 'node:module'
import t from 'tap'
import { type Service, startService } from '../../helpers/service.ts'

const { cache } = createRequire(import.meta.url)

/** The modules of Swagger UI and its plugins that are loaded in this process. */
function swaggerModules(): string[] {
  return Object.keys(cache).filter((path) => path.includes('/@fastify/swagger'))
}

let service: Service
t.before(async () => {
  service = await startService(t, { config: { docs: false } })
})

for (const path of [
  '/',
  '/documentation',
  '/documentation/',
  '/documentation?theme=dark',
  '/documentation/json',
  '/documentation/yaml',
  '/documentation/static/swagger-ui-bundle.js',
  '/documentation/nothing',
]) {
  t.test(`with --docs off, ${path} does not exist`, async (t) => {
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST']) {
      t.equal((await service.call({ method, path, token: null })).status, 401, method)
      t.equal((await service.call({ method, path, token: 'wrong' })).status, 401, method)
      const { status, headers } = await service.call({ method, path })
      t.equal(status, 404, method)
      t.notHas(headers, { allow: '' })
    }
  })
}

t.test('Swagger UI is loaded on the first request for it, not at startup', async (t) => {
  t.same(swaggerModules(), [])
  const withDocs = await startService(t)
  await withDocs.call({ method: 'GET', path: '/' })
  await withDocs.call({ method: 'GET', path: '/documentation/nothing' })
  t.same(swaggerModules(), [])
  await withDocs.call({ method: 'GET', path: '/documentation' })
  t.not(swaggerModules().length, 0)
})
