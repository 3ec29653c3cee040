/**
 * The servers that the service is compared with: a bare Fastify that checks the token, validates requests and either
 * stores nothing (`nothing`, the ceiling) or commits each request separately, as is common, to SQLite (`FULL` and
 * `NORMAL` are values of `PRAGMA synchronous`) or to PostgreSQL.
 *
 *     node tools/bench/servers/bare-server.ts nothing|FULL|NORMAL|postgres DATABASE STORED TOKEN
 */
import type { AddressInfo } from 'node:net'
import bearerAuth from '@fastify/bearer-auth'
import Fastify from 'fastify'
import { noPlants, type Plants, type StoredPlant, sqlitePlants } from './bare-plants.ts'
import { postgresPlants } from './bare-postgres.ts'

const [mode = '', file = '', stored = '', token = ''] = process.argv.slice(2)
const plants = await openPlants(mode)

const text = { type: 'string' }
const id = { type: 'integer', format: 'int64' }
const plant = { type: 'object', required: ['name'], properties: { name: text, tag: text } }
const plantWithId = { ...plant, required: ['id', 'name'], properties: { id, ...plant.properties } }
const integer = { type: 'integer' }
const summary = { type: 'object', properties: { created: integer, replayed: integer } }

// The service has this option too.
const app = Fastify({ http: { optimizeEmptyRequests: true } })
await app.register(bearerAuth, { keys: [token] })
app.post<{ Body: StoredPlant }>(
  '/plants',
  { schema: { body: plantWithId, response: { 200: plant } } },
  async ({ body }) => {
    await plants.create(body)
    return body
  },
)
app.post<{ Body: StoredPlant[] }>(
  '/plants/batch',
  { schema: { body: { type: 'array', items: plantWithId }, response: { 200: summary } } },
  async ({ body }) => {
    await plants.createAll(body)
    return { created: body.length, replayed: 0 }
  },
)
app.get<{ Params: { id: number } }>(
  '/plants/:id',
  { schema: { params: { type: 'object', properties: { id } }, response: { 200: plantWithId } } },
  async ({ params }, reply) => (await plants.get(params.id)) ?? reply.code(404).send(),
)
app.get<{ Querystring: { after: number } }>(
  '/plants',
  {
    schema: {
      querystring: { type: 'object', properties: { after: id } },
      response: { 200: { type: 'array', items: plantWithId } },
    },
  },
  async ({ query }) => plants.page(query.after),
)
await app.listen({ host: '127.0.0.1', port: 0 })
const { port } = app.server.address() as AddressInfo
process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}` })}\n`)

async function openPlants(mode: string): Promise<Plants> {
  if (mode === 'nothing') return noPlants()
  if (mode === 'postgres') return postgresPlants(file, Number(stored))
  return sqlitePlants(file, mode, Number(stored))
}
