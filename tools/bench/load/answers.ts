import type { Target } from './generators.ts'
import {
  createIdSources,
  fillIn,
  type IdSource,
  makePlant,
  type Template,
} from './request-kinds.ts'

/** An id that no load uses. */
const ID = -1

/**
 * Verifies that a server does the work it is measured for: it checks tokens and bodies, and gives the expected
 * responses.
 *
 * @throws Error naming the first unexpected response
 */
export async function checkAnswers(target: Target): Promise<void> {
  const { id, ...plant } = makePlant(ID)
  const others = 'another-token'
  await expect(
    target,
    { what: 'a create without a valid token', body: { id, ...plant }, token: others },
    401,
  )
  await expect(target, { what: 'a read without a valid token', path: '/1', token: others }, 401)
  await expect(target, { what: 'a plant without a name', body: { id } }, 400)
  await expect(target, { what: 'a plant whose id is a word', body: { ...plant, id: 'one' } }, 400)
  await expect(target, { what: 'a create', body: { id, ...plant } }, 200, plant)
  await expect(target, { what: 'the same create again', body: { id, ...plant } }, 200, plant)
  await expect(target, { what: 'a read', path: `/${id}` }, 200, { id, ...plant })
  const page = await expect(target, { what: 'a page', path: '?after=1' }, 200)
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
  target: Target,
  { what, path = '', body, token = target.token }: Exchange,
  status: number,
  wanted?: object,
): Promise<unknown> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const create = { method: 'POST', headers, body: JSON.stringify(body) }
  const response = await fetch(
    `${target.url}/plants${path}`,
    body === undefined ? { headers } : create,
  )
  const text = await response.text()
  const as = wanted === undefined || text === JSON.stringify(wanted)
  if (response.status === status && as) return JSON.parse(text)
  const instead = wanted === undefined ? status : `${status} ${JSON.stringify(wanted)}`
  throw new Error(`${what}: expected ${instead}, got ${response.status} ${text}`)
}

/**
 * Whether a server has the operations of some requests. An older version may lack one.
 *
 * @param successes the statuses of success
 * @throws Error if it gives another status than those, 404 or 405
 */
export async function isServed(
  target: Target,
  requests: Iterable<Template>,
  successes: readonly number[] = [200],
): Promise<boolean> {
  // Above the ids of all loads.
  const sources = createIdSources({ first: 5e12, stored: 1 })
  const { sequential } = sources
  for (const template of requests) {
    const ids = { ...sources, random: sequential, 'random-53-bit': sequential }
    const { status, described } = await send(target, template, ids)
    if (status === 404 || status === 405) return false
    if (!successes.includes(status)) throw new Error(described)
  }
  return true
}

/** Sends one request of a load. */
export async function send(
  target: Target,
  template: Template,
  ids: Record<IdSource, (count: number) => string>,
): Promise<{ readonly status: number; readonly text: string; readonly described: string }> {
  const { method } = template
  const { path, body } = fillIn(template, ids, 0)
  const headers = { authorization: `Bearer ${target.token}`, 'content-type': 'application/json' }
  const options = { method, headers, ...(body === '' ? {} : { body }) }
  const response = await fetch(target.url + path, options)
  const text = await response.text()
  return {
    status: response.status,
    text,
    described: `${method} ${path}: ${response.status} ${text}`,
  }
}
