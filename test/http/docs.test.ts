import { createContext, runInContext } from 'node:vm'
import t from 'tap'
import { parse } from 'yaml'
import { plantStorePage, resolveAgainstPage } from '../../src/http/docs-page.ts'
import { contract } from '../helpers/contract-check.ts'
import { type Service, startService } from '../helpers/service.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

/** As a browser without a token does. */
function get(path: string): Promise<Response> {
  return fetch(service.url + path, { redirect: 'manual' })
}

/** What the page loads, as the HTML has it. */
function referencesOf(html: string): string[] {
  return [...html.matchAll(/ (?:src|href)="([^"]*)"/g)].map(([, reference]) => reference as string)
}

for (const prefix of ['', '/some/prefix', '/documentation/of']) {
  for (const path of ['/documentation', '/documentation/']) {
    t.test(`the page at ${prefix}${path} is there with all its parts, below it`, async (t) => {
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
    t.test(`${prefix}${path} leads to the docs below it`, async (t) => {
      for (const method of ['GET', 'HEAD']) {
        const answer = await service.call({ method, path, token: null })
        t.equal(answer.status, 302)
        const { pathname } = new URL(`${answer.headers.location}`, `http://proxy${prefix}${path}`)
        t.equal(pathname, `${prefix}/documentation`)
      }
    })
  }
}

t.test('a phone shows the page at its own width', async (t) => {
  for (const path of ['/documentation', '/documentation/']) {
    const page = await get(path)
    const html = await page.text()
    t.match(html, /<head><meta name="viewport" content="width=device-width, /)
    const head = await service.call({ method: 'HEAD', path, token: null })
    t.equal(head.headers['content-length'], `${Buffer.byteLength(html)}`)
  }
})

t.test('the page may load nothing from elsewhere and nothing inline', async (t) => {
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

t.test('the styles need nothing from elsewhere', async (t) => {
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
  t.test(`${path} is redirected to the page, which a query would break`, async (t) => {
    const answer = await get(path)
    t.equal(answer.status, 302)
    t.equal(answer.headers.get('location'), location)
  })
}

for (const [path, type, read] of [
  ['/documentation/json', 'application/json', JSON.parse],
  ['/documentation/json?download', 'application/json', JSON.parse],
  ['/documentation/yaml', 'application/yaml', (text: string) => parse(text)],
] as const) {
  t.test(`${path} is the contract`, async (t) => {
    const answer = await get(path)
    t.equal(answer.status, 200)
    t.equal(answer.headers.get('content-type'), type)
    const text = await answer.text()
    t.strictSame(read(text), contract)
  })
}

for (const path of [
  '/documentation/nothing',
  '/documentation/.env',
  '/documentation/json/',
  '/documentation/static',
  '/documentation/static/',
  '/documentation/static/nothing.js',
  '/documentation/static/favicon-32x32.png',
  '/documentation/static/theme/nothing.css',
  '/documentation/static/index.html',
  '/documentation/static/index.html?again',
  '/documentation/static/.htaccess',
  '/documentation/static//index.css',
  '/documentation/static/./index.css',
  '/documentation/static/../../package.json',
  '/documentation/static/..%2f..%2fpackage.json',
  '/documentation/static/%2e%2e/%2e%2e/package.json',
  '/documentation/static/..%5c..%5cpackage.json',
  '/documentation/static/index.css%00',
  `/documentation/static/${'long'.repeat(1000)}`,
]) {
  t.test(`there is nothing at ${path.slice(0, 60)}`, async (t) => {
    const answer = await service.call({ method: 'GET', path, token: null })
    t.equal(answer.status, 404)
    t.match(answer.json, { error: 40401 })
  })
}

t.test('a method that the docs do not have is refused', async (t) => {
  for (const path of ['/', '/documentation', '/documentation/', '/documentation/json']) {
    const answer = await service.call({ path, body: {} })
    t.equal(answer.status, 405)
    t.equal(answer.headers.allow, 'GET, HEAD, OPTIONS')
  }
})

type Plugin = ReturnType<typeof plantStorePage>
type Request = Parameters<typeof resolveAgainstPage>[0]

interface Configuration {
  readonly url: string
  readonly persistAuthorization: boolean
  readonly validatorUrl: null
  readonly requestInterceptor: typeof resolveAgainstPage
  readonly plugins: (typeof plantStorePage)[]
}

/** Runs the served initializer as the page at that address does; what Swagger UI is given. */
async function configurationAt(page: string): Promise<Configuration> {
  const script = await (await get('/documentation/static/swagger-initializer.js')).text()
  const configurations: Configuration[] = []
  const bundle = (configuration: Configuration) => {
    configurations.push(configuration)
    return { initOAuth: () => {} }
  }
  const location = new URL(page)
  const context = {
    URL,
    location,
    window: { location, onload: () => {} },
    document: { createElement: () => ({}), querySelector: () => ({ appendChild: () => {} }) },
    SwaggerUIBundle: Object.assign(bundle, { presets: {}, plugins: {} }),
    SwaggerUIStandalonePreset: {},
  }
  runInContext(script, createContext(context))
  context.window.onload()
  return configurations[0] as Configuration
}

t.test('Swagger UI keeps the token over a reload and asks no validator', async (t) => {
  const configuration = await configurationAt('http://here/documentation')
  t.equal(configuration.persistAuthorization, true)
  t.equal(configuration.validatorUrl, null)
})

for (const page of ['/documentation', '/prefix/documentation/', '/documentation#/plants']) {
  t.test(`Swagger UI at ${page} finds the contract beside it`, async (t) => {
    const { url } = await configurationAt(`http://here${page}`)
    t.equal(new URL(url).pathname, page.replace(/documentation.*/, 'documentation/json'))
  })
}

const REQUESTS: [page: string, request: Request, sent: string][] = [
  ['/documentation', { url: 'http://here/plants' }, 'http://here/plants'],
  ['/documentation/', { url: 'http://here/plants?limit=1' }, 'http://here/plants?limit=1'],
  ['/a/b/documentation', { url: 'http://here/plants' }, 'http://here/a/b/plants'],
  ['/a/b/documentation/', { url: '/plants?limit=1' }, 'http://here/a/b/plants?limit=1'],
  ['/plants/documentation', { url: 'http://here/plants/4' }, 'http://here/plants/plants/4'],
  ['/documentation/v2/documentation', { url: '/plants' }, 'http://here/documentation/v2/plants'],
  ['/documentation-v2/documentation', { url: '/plants' }, 'http://here/documentation-v2/plants'],
  ['/elsewhere/', { url: 'http://here/plants' }, 'http://here/plants'],
  ['/a/documentation', { url: 'http://there/plants' }, 'http://there/plants'],
  [
    '/a/documentation',
    { url: 'http://here/a/documentation/json', loadSpec: true },
    'http://here/a/documentation/json',
  ],
]
for (const [page, request, sent] of REQUESTS) {
  t.test(`the page at ${page} sends a request for ${request.url} to ${sent}`, async (t) => {
    const { requestInterceptor } = await configurationAt(`http://here${page}`)
    t.same(requestInterceptor({ ...request }), { ...request, url: sent })
    t.intercept(globalThis as { location?: URL }, 'location', {
      value: new URL(`http://here${page}`),
    })
    t.same(resolveAgainstPage({ ...request }), { ...request, url: sent })
  })
}

/** What the plugin makes of an answer: a component, and the text in it. */
function shown({ wrapComponents }: Plugin, content: string, contentType?: string) {
  const ui = {
    React: { createElement: (...element: unknown[]) => element },
    getComponent: (name: string) => name,
  }
  const show = wrapComponents.responseBody("Swagger UI's own", ui)
  const [component, , text] = show({ content, ...(contentType && { contentType }) }) as string[]
  return { component, text }
}

for (const [content, text] of [
  ['{"id":9007199254740993}', '{\n  "id": 9007199254740993\n}'],
  [
    '[{"id":-9223372036854775808,"tag":"1"}]',
    '[\n  {\n    "id": -9223372036854775808,\n    "tag": "1"\n  }\n]',
  ],
  ['[1.0, 1e2, -0, true, null]', '[\n  1.0,\n  1e2,\n  -0,\n  true,\n  null\n]'],
  ['{"not": JSON', '{"not": JSON'],
] as const) {
  t.test(`Swagger UI shows ${content} digit for digit`, async (t) => {
    const { plugins } = await configurationAt('http://here/documentation')
    for (const plugin of [...plugins, plantStorePage]) {
      const json = shown(plugin(), content, 'application/json; charset=utf-8')
      t.same(json, { component: 'HighlightCode', text })
    }
  })
}

t.test('Swagger UI shows what is not JSON as it always does', async (t) => {
  for (const type of ['text/html', undefined]) {
    t.match(shown(plantStorePage(), '<p>', type), { component: "Swagger UI's own" })
  }
})

t.test('the page has its own name at the top', async (t) => {
  t.intercept(globalThis as { document?: object }, 'document', { value: { title: 'Plant Store' } })
  t.equal(plantStorePage().components.Logo(), 'Plant Store')
})
