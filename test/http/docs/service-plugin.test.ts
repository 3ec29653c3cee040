/** How the docs link to the rest of the service, and check tokens. test/browser/ does so in a real browser. */
import t, { type Test } from 'tap'
import { prepareRequest } from '../../../src/http/docs/docs-page.ts'
import { type DocsSettings, servicePlugin } from '../../../src/http/docs/service-plugin.ts'
import { type Service, startService } from '../../helpers/service/service.ts'
import { immutable, readConfiguration, UI } from './swagger-ui.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

const { wrapComponents, statePlugins } = servicePlugin()

type ConfiguredUi = Parameters<typeof wrapComponents.InfoUrl>[1]

const OIDC = { oidcIssuer: 'https://id.example/realms/a', oidcAudience: 'plants' }

/** Makes the code under test run on the docs page at a URL. */
function visit(t: Test, url: string): void {
  t.intercept(globalThis as { location?: URL }, 'location', { value: new URL(url) })
}

/** Swagger UI with a configuration, and the problems with tokens that it shows. */
function configure(settings: DocsSettings = { links: [] }) {
  const problems: { readonly message?: string }[] = []
  const ui: ConfiguredUi = {
    ...UI,
    getConfigs: () => ({ ...settings, requestInterceptor: prepareRequest }),
    errActions: {
      clear: () => problems.splice(0),
      newAuthErr: (problem) => problems.push(problem),
    },
  }
  return { ui, problems }
}

async function settingsOf(t: Test, config: object): Promise<DocsSettings> {
  return readConfiguration(await startService(t, { config }), 'http://here/documentation')
}

for (const [page, url] of [
  ['http://here/documentation', 'http://here/documentation/guides/'],
  ['http://here/some/prefix/documentation', 'http://here/some/prefix/documentation/guides/'],
  ['http://here/some/prefix/documentation/', 'http://here/some/prefix/documentation/guides/'],
] as const) {
  t.test(`the docs at ${page} link to the guides below it`, async (t) => {
    visit(t, page)
    const settings = await readConfiguration(service, page)
    const [, , original, ...links] = wrapComponents.InfoUrl(
      'InfoUrl',
      configure(settings).ui,
    )({
      url: 'json',
    }) as [string, object, unknown, ...[string, { href: string }, string][]]
    t.strictSame(original, ['InfoUrl', { url: 'json' }])
    const urls = links.map(([, { href }, text]) => [text, new URL(href, page).href])
    t.strictSame(urls, [
      ['Guides', url],
      ['Plants', url.replace('documentation/guides/', '')],
    ])

    const source = 'See [one](/documentation/guides/), and [two](https://a.example/).'
    const [, text] = wrapComponents.Markdown('Markdown', configure().ui)({ source }) as [
      string,
      { source: string },
    ]
    const [, one = '', two] = /\[one\]\((.*)\).*\[two\]\((.*)\)/.exec(text.source) ?? []
    t.equal(new URL(one, page).href, url)
    t.equal(two, 'https://a.example/')
  })
}

t.test('the docs show what has no description', async (t) => {
  const shown = wrapComponents.Markdown('Markdown', configure().ui)({})
  t.same(shown, ['Markdown', {}])
})

t.test(
  'the docs say how to get a token of an issuer, and link to the page if there is one',
  async (t) => {
    const { tokenHelp = '' } = await settingsOf(t, { ...OIDC, oidcReadScope: 'leer' })
    t.match(tokenHelp, 'that https://id.example/realms/a issues for the audience `plants`')
    t.match(tokenHelp, '`leer` and `plants:write`')
    t.notMatch(tokenHelp, 'sign in')
    const client = { ...OIDC, oidcClientId: 'page' }
    t.match((await settingsOf(t, client)).tokenHelp, '[sign in on the page](/)')
    const without = await settingsOf(t, { ...client, page: false })
    t.notMatch(without.tokenHelp, 'sign in')
    t.same(without.links, [{ text: 'Guides', path: '/documentation/guides/' }])
    const usual = await readConfiguration(service, 'http://here/documentation')
    t.equal(usual.tokenHelp, undefined)

    const show = wrapComponents.HttpAuth('HttpAuth', configure({ links: [], tokenHelp }).ui)
    t.strictSame(show({ name: 'bearer' }), [
      'div',
      {},
      ['HttpAuth', { name: 'bearer' }],
      ['Markdown', { source: tokenHelp }],
    ])
  },
)

/** Enters a token. Resolves to whether Swagger UI uses it, and to the problems that it shows. */
async function enter(t: Test, value: string | undefined, url = service.url) {
  visit(t, `${url}/documentation`)
  const { ui, problems } = configure()
  problems.push({ message: 'a problem with an earlier token' })
  const used: object[] = []
  const credentials = value === undefined ? {} : { bearer: { value } }
  const { authorizeWithPersistOption } = statePlugins.auth.wrapActions
  await authorizeWithPersistOption((each) => used.push(each), ui)(credentials)
  return { isUsed: used[0] === credentials, messages: problems.map(({ message }) => message) }
}

t.test('a valid token is used, also if it was pasted with its scheme', async (t) => {
  for (const token of [service.token, `Bearer ${service.token}`]) {
    t.strictSame(await enter(t, token), { isUsed: true, messages: [] })
  }
})

for (const { what, token, message } of [
  {
    what: 'a wrong token',
    token: 'wrong',
    message: 'the access token is unknown, expired or revoked',
  },
  {
    what: 'no token',
    token: undefined,
    message: 'missing access token: send it as Authorization: Bearer <token>',
  },
]) {
  t.test(`${what} is reported when it is entered, and not used`, async (t) => {
    t.strictSame(await enter(t, token), { isUsed: false, messages: [message] })
  })
}

t.test('a token that cannot be checked is not used', async (t) => {
  const gone = await startService(t)
  await gone.app.close()
  const messages = ['the service cannot be reached']
  t.strictSame(await enter(t, gone.token, gone.url), { isUsed: false, messages })
})

t.test('a problem with a token is read aloud', async (t) => {
  const error = immutable({ message: 'the access token is unknown' })
  const shown = wrapComponents.authError('authError', configure().ui)({ error })
  const properties = { className: 'errors', role: 'alert' }
  t.strictSame(shown, ['p', properties, 'the access token is unknown'])
})
