/** The docs page, the contract and redirects. docs-variants.test.ts has the page's files. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { contract } from '../../helpers/service/contract-check.ts'
import { type Service, startService } from '../../helpers/service/service.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

/** Requests a file like a browser, without a token and without following redirects. */
function get(path: string): Promise<Response> {
  return fetch(service.url + path, { redirect: 'manual' })
}

t.test('/ redirects to the docs below it', async (t) => {
  for (const path of ['/', '/?theme=dark']) {
    for (const method of ['GET', 'HEAD']) {
      const answer = await service.call({ method, path, token: null })
      t.match(answer, { status: 302, headers: { location: './documentation' } })
    }
  }
})

t.test('the page adapts to the width of a phone', async (t) => {
  for (const path of ['/documentation', '/documentation/']) {
    const page = await get(path)
    const html = await page.text()
    t.match(html, /<head><meta name="viewport" content="width=device-width, /)
    const head = await service.call({ method: 'HEAD', path, token: null })
    t.equal(head.headers['content-length'], `${Buffer.byteLength(html)}`)
  }
})

t.test('the page can load nothing from third parties and nothing inline', async (t) => {
  const page = await get('/documentation')
  const policy = page.headers.get('content-security-policy') ?? ''
  t.same(policy.split(/; ?/).filter(Boolean).sort(), [
    "base-uri 'none'",
    "connect-src 'self'",
    "default-src 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "img-src 'self' data:",
    "script-src 'self'",
    "style-src 'self'",
  ])
})

for (const [path, location] of [
  ['/documentation?theme=dark', './documentation'],
  ['/documentation?', './documentation'],
  ['/documentation/?a=b/', './'],
] as const) {
  t.test(`${path} redirects to the page without a query, which would break it`, async (t) => {
    const answer = await get(path)
    t.equal(answer.status, 302)
    t.equal(answer.headers.get('location'), location)
  })
}

for (const path of ['/documentation/json', '/documentation/json?download']) {
  t.test(`${path} is the contract`, async (t) => {
    const answer = await get(path)
    t.equal(answer.status, 200)
    t.equal(answer.headers.get('content-type'), 'application/json')
    t.strictSame(await answer.json(), contract)
  })
}

t.test('/documentation/yaml is openapi.yaml, byte for byte', async (t) => {
  const answer = await get('/documentation/yaml')
  t.equal(answer.status, 200)
  t.equal(answer.headers.get('content-type'), 'application/yaml')
  const file = readFileSync(new URL('../../../openapi.yaml', import.meta.url))
  t.ok(Buffer.from(await answer.arrayBuffer()).equals(file))
})

for (const path of [
  '/documentation/nothing',
  '/documentation/json/',
  '/documentation/static',
  '/documentation/static/',
  '/documentation/static/nothing.js',
  '/documentation/static/index.html',
  '/documentation/static//index.css',
  '/documentation/static/./index.css',
  '/documentation/static/../../package.json',
  '/documentation/static/..%2f..%2fpackage.json',
  '/documentation/static/%2e%2e/%2e%2e/package.json',
  '/documentation/static/..%5c..%5cpackage.json',
  '/documentation/static/index.css%00',
  '/documentation/guides/nothing',
  '/documentation/guides/changes.html',
  '/documentation/guides/..%2fpackage.json',
  '/documentation/guides/constructor',
  `/documentation/static/${'long'.repeat(1000)}`,
]) {
  t.test(`${path.slice(0, 60)} does not exist`, async (t) => {
    const answer = await service.call({ method: 'GET', path, token: null })
    t.match(answer, { status: 404, json: { error: 40401 } })
  })
}

t.test('with --docs off, neither the page nor its files exist', async (t) => {
  const off = await startService(t, { config: { docs: false, page: false } })
  const files = [
    '',
    '/',
    '?theme=dark',
    '/json',
    '/yaml',
    '/static/swagger-ui-bundle.js',
    '/guides',
    '/guides/',
    '/guides/changes',
    '/nothing',
  ]
  for (const path of ['/', ...files.map((file) => `/documentation${file}`)]) {
    for (const method of path === '/' ? ['GET', 'HEAD', 'OPTIONS', 'POST'] : ['GET']) {
      t.equal((await off.call({ method, path, token: null })).status, 401, `${method} ${path}`)
      const { status, headers } = await off.call({ method, path })
      t.same([status, headers.allow], [404, undefined], `${method} ${path}`)
    }
  }
})
