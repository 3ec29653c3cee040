/**
 * PostgREST's design on Node: each request becomes one SQL statement, which parses the body of the request and makes
 * that of the response.
 *
 *     node tools/bench/peers/sql-server.ts URL STORED
 */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import pg from 'pg'
import { fillTable } from '../servers/bare-postgres.ts'

const [connectionString = '', stored = ''] = process.argv.slice(2)
// The driver's default of ten connections is PostgREST's too.
const pool = new pg.Pool({ connectionString })
await fillTable(pool, Number(stored))

const INSERT = 'INSERT INTO plants SELECT * FROM json_populate_record(NULL::plants, $1)'

/** The operators of conditions such as `id=gt.5`. */
const OPERATORS: Readonly<Record<string, string>> = { eq: '=', gt: '>' }

function select(operator = ''): string {
  const rows = `SELECT * FROM plants WHERE id ${OPERATORS[operator]} $1 ORDER BY id LIMIT $2`
  return `SELECT coalesce(json_agg(row), '[]')::text AS body FROM (${rows}) row`
}

const server = createServer(async (request, response) => {
  try {
    const { status, body } = await answer(request)
    response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  } catch (error) {
    response.writeHead(400, { 'content-type': 'text/plain' }).end(String(error))
  }
})
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}` })}\n`)
})

async function answer(request: IncomingMessage): Promise<{ status: number; body: string }> {
  if (request.method === 'POST') {
    await query('insert', INSERT, [await readText(request)])
    return { status: 201, body: '' }
  }
  const { searchParams } = new URL(request.url ?? '', 'http://localhost')
  const [operator, id] = searchParams.get('id')?.split('.') ?? []
  const values = [id, searchParams.get('limit')]
  const body = await query(`select ${operator}`, select(operator), values)
  return { status: 200, body }
}

/** Prepares a statement under a name once for each connection. */
async function query(name: string, text: string, values: unknown[]): Promise<string> {
  const { rows } = await pool.query<{ body: string }>({ name, text, values })
  return rows[0]?.body ?? ''
}
