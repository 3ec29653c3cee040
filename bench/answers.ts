import Sqlite from 'better-sqlite3'
import { makePlant } from './requests.ts'
import { TOKEN } from './stores.ts'

/** An id that no load uses. */
const ID = -1

/**
 * Verifies that a server does the work it is measured for: it checks tokens and bodies, and gives the expected
 * responses.
 *
 * @throws Error naming the first unexpected response
 */
export async function checkAnswers(url: string): Promise<void> {
  const { id, ...plant } = makePlant(ID)
  const others = 'another-token'
  await expect(
    url,
    { what: 'a create without a valid token', body: { id, ...plant }, token: others },
    401,
  )
  await expect(url, { what: 'a read without a valid token', path: '/1', token: others }, 401)
  await expect(url, { what: 'a plant without a name', body: { id } }, 400)
  await expect(url, { what: 'a plant whose id is a word', body: { ...plant, id: 'one' } }, 400)
  await expect(url, { what: 'a create', body: { id, ...plant } }, 200, plant)
  await expect(url, { what: 'the same create again', body: { id, ...plant } }, 200, plant)
  await expect(url, { what: 'a read', path: `/${id}` }, 200, { id, ...plant })
  const page = await expect(url, { what: 'a page', path: '?after=1' }, 200)
  if (!Array.isArray(page) || page.length !== 100)
    throw new Error('a page does not have 100 plants')
}

interface Exchange {
  readonly what: string
  readonly path?: string
  readonly body?: unknown
  readonly token?: string
}

/** Resolves to the body of the response. */
async function expect(
  url: string,
  { what, path = '', body, token = TOKEN }: Exchange,
  status: number,
  wanted?: object,
): Promise<unknown> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const create = { method: 'POST', headers, body: JSON.stringify(body) }
  const response = await fetch(`${url}/plants${path}`, body === undefined ? { headers } : create)
  const text = await response.text()
  const as = wanted === undefined || text === JSON.stringify(wanted)
  if (response.status === status && as) return JSON.parse(text)
  const instead = wanted === undefined ? status : `${status} ${JSON.stringify(wanted)}`
  throw new Error(`${what}: expected ${instead}, got ${response.status} ${text}`)
}

/**
 * Verifies that every acknowledged plant is in the database.
 *
 * @throws Error if plants are missing
 */
export function checkStored(file: string, least: number): void {
  const db = new Sqlite(file, { readonly: true })
  try {
    const count = db.prepare('SELECT count(*) FROM plants').pluck().get() as number
    if (count < least) throw new Error(`${count} plants are stored, but ${least} were acknowledged`)
  } finally {
    db.close()
  }
}
