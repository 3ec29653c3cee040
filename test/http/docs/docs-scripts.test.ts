/** What Swagger UI does in the browser: its configuration and our plugin. test/browser/ runs it in a real one. */
import { createContext, runInContext } from 'node:vm'
import t from 'tap'
import { type Service, startService } from '../../helpers/service.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

type Request = { url: string; headers?: Record<string, string>; loadSpec?: boolean }

/** The part of React's and Swagger UI's functions that the plugin uses. */
interface SwaggerUi {
  readonly React: { createElement(...element: unknown[]): unknown }
  getComponent(name: string): string
}

interface Plugin {
  readonly components: { Logo(): string }
  readonly wrapComponents: {
    responseBody(
      original: string,
      ui: SwaggerUi,
    ): (body: { content: string; contentType?: string }) => unknown
  }
}

interface Configuration {
  readonly url: string
  readonly persistAuthorization: boolean
  readonly validatorUrl: null
  readonly requestInterceptor: (request: Request) => Request
  readonly plugins: (() => Plugin)[]
}

/** Runs the served initializer like the page at an address, and returns Swagger UI's configuration. */
async function configurationAt(page: string): Promise<Configuration> {
  const url = `${service.url}/documentation/static/swagger-initializer.js`
  const script = await (await fetch(url)).text()
  const configurations: Configuration[] = []
  const bundle = (configuration: Configuration) => configurations.push(configuration)
  const context = {
    URL,
    location: new URL(page),
    document: { title: 'Plant Store' },
    SwaggerUIBundle: Object.assign(bundle, { presets: {} }),
    SwaggerUIStandalonePreset: {},
  }
  runInContext(script, createContext(context))
  return configurations[0] as Configuration
}

t.test('Swagger UI keeps the token across reloads and contacts no validator', async (t) => {
  const configuration = await configurationAt('http://here/documentation')
  t.equal(configuration.persistAuthorization, true)
  t.equal(configuration.validatorUrl, null)
})

for (const page of ['/documentation', '/prefix/documentation/', '/documentation#/plants']) {
  t.test(`Swagger UI at ${page} finds the contract`, async (t) => {
    const { url } = await configurationAt(`http://here${page}`)
    t.equal(new URL(url).pathname, page.replace(/documentation.*/, 'documentation/json'))
  })
}

for (const pasted of ['secret', 'Bearer secret', ' bearer  secret \n', 'Bearer Bearer secret']) {
  t.test(`a token pasted as ${JSON.stringify(pasted)} is sent once`, async (t) => {
    const { requestInterceptor } = await configurationAt('http://here/documentation')
    const headers = { Authorization: `Bearer ${pasted}` }
    const sent = requestInterceptor({ url: 'http://here/plants', headers })
    t.strictSame(sent.headers, { Authorization: 'Bearer secret' })
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
  })
}

async function plugin(): Promise<Plugin> {
  const { plugins } = await configurationAt('http://here/documentation')
  return (plugins[0] as () => Plugin)()
}

/** The component that the plugin renders for a response, and its text. */
async function shown(content: string, contentType?: string) {
  const { wrapComponents } = await plugin()
  const show = wrapComponents.responseBody("Swagger UI's own", {
    React: { createElement: (...element) => element },
    getComponent: (name) => name,
  })
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
    t.same(await shown(content, 'application/json; charset=utf-8'), {
      component: 'HighlightCode',
      text,
    })
  })
}

t.test('Swagger UI renders content other than JSON itself', async (t) => {
  for (const type of ['text/html', undefined]) {
    t.match(await shown('<p>', type), { component: "Swagger UI's own" })
  }
})

t.test('the page shows its own name at the top', async (t) => {
  t.equal((await plugin()).components.Logo(), 'Plant Store')
})
