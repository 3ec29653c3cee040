/**
 * A conventional contract-first server: Express, with requests validated against the service's contract by
 * express-openapi-validator, and a commit to SQLite for each create. Not TypeScript, because its packages are only
 * installed on the first use.
 *
 *     node tools/bench/peers/express-server.js FULL|NORMAL DATABASE STORED TOKEN
 */
import { fileURLToPath } from 'node:url'
import express from 'express'
import { middleware } from 'express-openapi-validator'
import { sqlitePlants } from '../servers/bare-plants.ts'

const [synchronous, file, stored, token] = process.argv.slice(2)
const plants = sqlitePlants(file, synchronous, Number(stored))

const app = express()
app.use(express.json())
app.use(
  middleware({
    apiSpec: fileURLToPath(new URL('../../../openapi.yaml', import.meta.url)),
    validateSecurity: {
      handlers: { bearer: (request) => request.headers.authorization === `Bearer ${token}` },
    },
  }),
)
app.post('/plants', (request, response) => {
  const { id, name, tag } = request.body
  plants.create({ id, name, tag })
  response.json({ name, tag })
})
app.get('/plants', (request, response) => {
  response.json(plants.page(request.query.after))
})
app.get('/plants/:id', (request, response) => {
  const plant = plants.get(request.params.id)
  if (plant === undefined) response.status(404).end()
  else response.json(plant)
})
// Express recognizes a handler of errors by its four parameters.
app.use((error, _request, response, _next) => {
  response.status(error.status ?? 500).json({ message: error.message })
})
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })}\n`)
})
