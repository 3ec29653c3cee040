/** The docs page, its files and redirects. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { contract } from '../../helpers/contract-check.ts'
import { type Service, startService } from '../../helpers/service.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

/** Requests a file like a browser, without a token and without following redirects. */
function get(path: string): Promise<Response> {
  return fetch(service.url + path, { redirect: 'manual' })
}

/** The URLs of the files that the page loads. */
function referencesOf(html: string): string[] {
  return [...html.matchAll(/ (?:src|href)="([^"]*)"/g)].map(([, reference]) => reference as string)
}

for (const prefix of ['', '/documentation/of']) {
  for (const path of ['/documentation', '/documentation/']) {
    t.test(`the page at ${prefix}${path} finds all its files below it`, async (t) => {
      const page = await get(path)
      t.equal(page.status, 200)
      t.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
      const html = await page.text()
      t.match(html, `<title>${contract.info.title}</title>`)
      const references = referencesOf(html)
      t.equal(references.length, 7)
      for (const reference of references) {
        const url = new URL(reference, `http://proxy${prefix}${path}`).href
        t.ok(url.startsWith(`http://proxy${prefix}/documentation/static/`), url)
        const part = await get(url.slice(`http://proxy${prefix}`.length))
        t.equal(part.status, 200, url)
        const type = { css: 'text/css', js: 'application/javascript', svg: 'image/svg+xml' }
        t.match(part.headers.get('content-type'), type[url.split('.').at(-1) as 'css'])
        t.not((await part.text()).length, 0)
      }
    })
  }
}

for (const prefix of ['', '/some/prefix']) {
  for (const path of ['/', '/?theme=dark']) {
    t.test(`${prefix}${path} redirects to the docs below it`, async (t) => {
      for (const method of ['GET', 'HEAD']) {
        const answer = await service.call({ method, path, token: null })
        t.equal(answer.status, 302)
        const { pathname } = new URL(`${answer.headers.location}`, `http://proxy${prefix}${path}`)
        t.equal(pathname, `${prefix}/documentation`)
      }
    })
  }
}

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

t.test('the stylesheets need nothing from third parties', async (t) => {
  for (const part of ['swagger-ui.css', 'index.css', 'theme/docs.css']) {
    const css = await (await get(`/documentation/static/${part}`)).text()
    t.notMatch(css, /@import/)
    t.notMatch(css, /url\((?!["']?data:|"docs\.svg"\))/)
  }
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
    t.equal(answer.status, 404)
    t.match(answer.json, { error: 40401 })
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
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST']) {
      for (const token of [null, 'wrong']) {
        t.equal((await off.call({ method, path, token })).status, 401, `${method} ${path}`)
      }
      const { status, headers } = await off.call({ method, path })
      t.equal(status, 404, `${method} ${path}`)
      t.notHas(headers, { allow: '' })
    }
  }
})
