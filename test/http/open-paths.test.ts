/** The paths that need no token have the statuses that the contract lists for them. */
import t from 'tap'
import { contract } from '../helpers/service/contract-check.ts'
import { type Call, startService } from '../helpers/service/service.ts'

const HTML = { accept: 'text/html' }
const KNOWN = { 'if-none-match': '*' }

/** Requests that get each status that each path can have. */
const CALLS: Readonly<Record<string, readonly Call[]>> = {
  '/': [
    { path: '/?x', headers: HTML },
    { path: '/' },
    { path: '/', headers: { ...HTML, ...KNOWN } },
  ],
  '/page/*': [{ path: '/page/main.js' }, { path: '/page/main.js', headers: KNOWN }],
  '/documentation': [
    { path: '/documentation' },
    { path: '/documentation?x' },
    { path: '/documentation', headers: KNOWN },
  ],
  '/documentation/*': [
    { path: '/documentation/static/index.css' },
    { path: '/documentation/?x' },
    { path: '/documentation/json', headers: KNOWN },
  ],
  '/health/*': [{ path: '/health/live' }, { path: '/health/ready', headers: KNOWN }],
  '/.well-known/oauth-protected-resource': [
    { path: '/.well-known/oauth-protected-resource', headers: KNOWN },
  ],
}

t.test('the contract lists the statuses of the paths that need no token', async (t) => {
  const config = { oidcIssuer: 'http://127.0.0.1:9', oidcAudience: 'urn:plants' }
  const service = await startService(t, { config })
  const found: Record<string, number[]> = {}
  for (const [open, calls] of Object.entries(CALLS)) {
    const answers = calls.flatMap((call) =>
      ['GET', 'HEAD'].map((method) => service.call({ token: null, ...call, method })),
    )
    const statuses = (await Promise.all(answers)).map(({ status }) => status)
    found[open] = [...new Set(statuses)].sort()
  }
  t.strictSame(found, contract['x-open-paths'])
  for (const path of ['/pages', '/document', '/health', '/.well-known/x', '//', '/page']) {
    t.equal((await service.call({ method: 'GET', path, token: null })).status, 401, path)
  }
})

t.test('who looks for the docs elsewhere is told where they are', async (t) => {
  for (const docs of [true, false]) {
    const service = await startService(t, { config: { docs } })
    for (const path of ['/docs', '/swagger', '/openapi.json', '/openapi.yaml', '/robots.txt']) {
      const { status, body } = await service.call({ method: 'GET', path, token: null })
      t.equal(status, 401)
      t.equal(JSON.stringify(body).includes('/documentation'), docs, path)
    }
  }
})
