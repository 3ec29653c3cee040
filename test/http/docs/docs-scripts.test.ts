/** What Swagger UI does in the browser: its configuration and our plugin. test/browser/ runs it in a real one. */
import t from 'tap'
import { prepareRequest, swaggerPlugin } from '../../../src/http/docs/docs-page.ts'
import { type Service, startService } from '../../helpers/service/service.ts'
import { immutable, readConfiguration, UI } from './swagger-ui.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

type Plugin = ReturnType<typeof swaggerPlugin>
type Request = Parameters<typeof prepareRequest>[0]

const configurationAt = (page: string) => readConfiguration(service, page)

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
    t.intercept(globalThis as { location?: URL }, 'location', {
      value: new URL(`http://here${page}`),
    })
    t.same(prepareRequest({ ...request }), { ...request, url: sent })
  })
}

t.test('a stream is explained, because Swagger UI would wait for its end', async (t) => {
  const request = { url: 'http://here/changes', headers: { accept: 'text/event-stream' } }
  t.intercept(globalThis as { location?: URL }, 'location', {
    value: new URL('http://here/documentation'),
  })
  const { userFetch } = prepareRequest({ ...request }) as { userFetch: () => Promise<unknown> }
  await t.rejects(userFetch(), { name: '', message: /never ends.*`-N`.*curl/ })
  const other = prepareRequest({ ...request, headers: { accept: 'application/json' } })
  t.notHas(other, { userFetch: '' })
})

/** The component that the plugin renders for a response, and its text. */
function shown({ wrapComponents }: Plugin, content: string, contentType?: string) {
  const show = wrapComponents.responseBody("Swagger UI's own", UI)
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
    const json = shown(plugins[0](UI), content, 'application/json; charset=utf-8')
    t.same(json, { component: 'HighlightCode', text })
  })
}

t.test('Swagger UI renders content other than JSON itself', async (t) => {
  for (const type of ['text/html', undefined]) {
    t.match(shown(swaggerPlugin(UI), '<p>', type), { component: "Swagger UI's own" })
  }
})

/** The properties with which the plugin renders a component of Swagger UI; undefined if it does not render it. */
function passedOn(name: keyof Plugin['wrapComponents'], properties: object) {
  const wrap = swaggerPlugin(UI).wrapComponents[name] as (
    original: string,
    ui: typeof UI,
  ) => (properties: object) => [string, object] | null
  return wrap("Swagger UI's own", UI)(properties)?.[1]
}

for (const [schema, limits] of [
  [{ type: 'integer', minimum: 0, maximum: 60, default: 0 }, '0 to 60, default 0'],
  [{ type: 'string', minLength: 1, maxLength: 100 }, '1 to 100 characters'],
  [{ type: 'string', maxLength: 1000 }, 'up to 1000 characters'],
  [
    { minItems: 1, maxItems: 200, items: { type: 'integer', format: 'int64' } },
    '1 to 200 items (int64)',
  ],
  [{ minItems: 1, maxItems: 200, items: { type: 'string' } }, '1 to 200 items (string)'],
] as const) {
  t.test(`the docs show the limits of a parameter: ${limits}`, async (t) => {
    const param = immutable<unknown>({ description: 'It.\n', schema: immutable<unknown>(schema) })
    for (const row of [{ param, rawParam: immutable({}) }, { rawParam: param }]) {
      const shown = passedOn('parameterRow', row) as typeof row
      t.equal(shown.param?.get('description'), `It.  \n*${limits}*`)
    }
  })
}

t.test('the docs show a parameter without limits as it is', async (t) => {
  const param = immutable<unknown>({ description: 'It.', schema: immutable({ type: 'string' }) })
  t.strictSame(passedOn('parameterRow', { param }), { param })
})

t.test('the docs show neither X-Request-Id for each response nor patterns', async (t) => {
  const { headers } = passedOn('headers', {
    headers: immutable({ 'X-Request-Id': {}, Link: {} }),
  }) as { headers: ReturnType<typeof immutable> }
  t.strictSame(headers.toJS(), { Link: {} })
  t.strictSame(passedOn('headers', {}), { headers: undefined })
  const constraint = (value: string) =>
    passedOn('JSONSchema202012KeywordConstraint', { constraint: { value } })
  t.equal(constraint('matches ^[0-9]+$'), undefined)
  t.match(constraint('int64'), { constraint: { value: 'int64' } })
})

t.test('the page shows its own name at the top', async (t) => {
  t.intercept(globalThis as { document?: object }, 'document', { value: { title: 'Plant Store' } })
  t.equal(swaggerPlugin(UI).components.Logo(), 'Plant Store')
})

t.test('the ids of a list are edited as text', async (t) => {
  const { JsonSchema_integer_int64: field } = swaggerPlugin(UI).components
  t.strictSame(field({ value: '4' }), ['JsonSchema_string', { value: '4' }])
})
