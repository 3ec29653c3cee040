/** Signing in with a real issuer, whose page a person sees in the same tab. */
import t, { type Test } from 'tap'
import { canResume, resumeSession } from '../../page/access/session.ts'
import { type Person, SignIn } from '../../page/access/sign-in.ts'
import { explain, isRejected, isTransient } from '../../page/errors/error-text.ts'
import { AUDIENCE, type Issuer, JWKS, startIssuer } from '../helpers/network/issuer.ts'
import { type BrowserApp, PAGE_CLIENT } from '../helpers/network/issuer-people.ts'
import { startService } from '../helpers/service/service.ts'
import { openTab, Tab } from './tab.ts'

const PAGE = 'http://127.0.0.1:3000/plants/'

let issuer: Issuer
t.before(async () => {
  issuer = await startIssuer(t)
})
t.beforeEach(() => {
  issuer.fault = () => false
})

interface Setting {
  readonly issuer: Issuer
  readonly tab: Tab
  readonly signIn: SignIn
}

/** Opens the page in a tab. */
async function start(t: Test, app: Partial<BrowserApp> = {}): Promise<Setting> {
  await issuer.register({ url: PAGE, ...app })
  const tab = openTab(t)
  tab.open(app.url ?? PAGE)
  return { issuer, tab, signIn: new SignIn(settingsOf(issuer)) }
}

function settingsOf({ url: issuer }: Issuer) {
  const scopes = ['plants:read', 'plants:write']
  return { issuer, clientId: PAGE_CLIENT.oidcClientId, audience: AUDIENCE, scopes }
}

/** What the person does on the issuer's page. Returns the URL of the response. */
async function authenticate(url: URL, form = 'login=ada'): Promise<string> {
  const cookies = new Map<string, string>()
  let next = url.href
  let body: string | undefined
  for (;;) {
    const response = await fetch(next, {
      redirect: 'manual',
      headers: {
        cookie: Array.from(cookies, (cookie) => cookie.join('=')).join('; '),
        ...(body !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(body !== undefined && { method: 'POST', body }),
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]*)=([^;]*)/.exec(cookie) ?? []
      cookies.set(name, value)
    }
    const location = response.headers.get('location')
    body = location === null ? form : undefined
    if (location !== null) next = new URL(location, next).href
    if (new URL(next).origin !== url.origin) return next
  }
}

async function signInAs({ tab, signIn }: Setting, form?: string): Promise<Person> {
  tab.open(await authenticate(await signIn.begin(), form))
  return (await signIn.finish()) as Person
}

t.test('a person signs in', async (t) => {
  const setting = await start(t)
  const { tab, signIn } = setting
  t.equal(signIn.host, new URL(setting.issuer.url).host)
  tab.open(`${PAGE}#tag=Tree`)
  t.equal(await signIn.finish(), undefined, 'not yet')
  const url = await signIn.begin()
  t.match(Object.fromEntries(url.searchParams), {
    response_type: 'code',
    redirect_uri: PAGE,
    scope: 'openid profile email plants:read plants:write',
    resource: AUDIENCE,
    code_challenge_method: 'S256',
  })
  tab.open(await authenticate(url))
  t.match(tab.location.searchParams.get('iss'), setting.issuer.url)
  const person = await signIn.finish()
  t.equal(tab.location.href, `${PAGE}#tag=Tree`)
  t.equal(tab.sessionStorage.size, 0)
  t.match(person, { name: "ada's name" })
  const token = String(await person?.accessToken())
  const payload = JSON.parse(atob(token.split('.')[1] ?? ''))
  t.match(payload, { aud: AUDIENCE, sub: 'ada', scope: 'plants:read plants:write' })
  const signOutUrl = person?.signOutUrl() as URL
  t.equal(`${signOutUrl.origin}${signOutUrl.pathname}`, `${setting.issuer.url}/session/end`)
  t.strictSame(
    Object.fromEntries(signOutUrl.searchParams),
    { client_id: PAGE_CLIENT.oidcClientId, post_logout_redirect_uri: PAGE },
    'the URL, which proxies and browsers keep, has no token',
  )
})

t.test('a person is called by the first claim that is a name', async (t) => {
  let claims: Record<string, unknown> = {}
  const setting = await start(t, { claims: () => claims })
  for (const [given, name] of [
    [{ name: 'Ada', preferred_username: 'ada' }, 'Ada'],
    [{ name: '', preferred_username: 'ada' }, 'ada'],
    [{ name: 7, email: 'ada@example' }, 'ada@example'],
    [{}, undefined],
  ] as const) {
    claims = given
    t.equal((await signInAs(setting)).name, name)
  }
})

t.test('an audience that is not a URI is not requested', async (t) => {
  const { issuer } = await start(t)
  const signIn = new SignIn({ ...settingsOf(issuer), audience: 'plants' })
  t.equal((await signIn.begin()).searchParams.get('resource'), null)
})

t.test('a person can cancel', async (t) => {
  const setting = await start(t)
  const failure = await signInAs(setting, 'cancel=yes').catch((error) => error)
  t.equal(explain(failure), 'Signing in was canceled.')
  t.equal(isRejected(failure), false)
  t.equal(isTransient(failure), false)
  t.equal(setting.tab.location.href, PAGE)
})

t.test('a response of another request or issuer, or with an error, is refused', async (t) => {
  const { tab, signIn } = await start(t)
  for (const [changes, message] of [
    [{ state: 'x' }, /^Signing in was not/],
    [{ iss: 'https://id.example' }, /"iss"/],
    [{ iss: undefined }, /"iss"/],
    [{ code: 'x' }, /took too long/],
    [
      { code: undefined, error: 'server_error' },
      /^127.0.0.1:\d+ cannot sign you in: server_error$/,
    ],
    [
      { error: 'invalid_scope', error_description: 'no such scope' },
      /^127.0.0.1:\d+ cannot sign you in: no such scope$/,
    ],
  ] as const) {
    const url = new URL(await authenticate(await signIn.begin()))
    for (const [name, value] of Object.entries(changes)) {
      if (value === undefined) url.searchParams.delete(name)
      else url.searchParams.set(name, value)
    }
    tab.open(url)
    await t.rejects(signIn.finish(), { kind: 'failed', message })
    t.equal(tab.location.href, PAGE)
    t.equal(await signIn.finish(), undefined)
  }
})

t.test('a response works once, and only for its request', async (t) => {
  const { tab, signIn } = await start(t)
  const url = await authenticate(await signIn.begin())
  tab.open(url)
  await signIn.finish()
  tab.open(url)
  await t.rejects(signIn.finish(), { message: /^Signing in was not started in this tab/ })
  tab.open(await authenticate(await signIn.begin()))
  const [[key = '', json = ''] = []] = tab.sessionStorage
  tab.sessionStorage.set(key, JSON.stringify({ ...JSON.parse(json), nonce: 'other' }))
  await t.rejects(signIn.finish(), { message: /does not respond as expected: .*nonce/ })
})

t.test('an issuer that does not work is named', async (t) => {
  const { issuer, signIn } = await start(t)
  issuer.fault = (_request, response) => Boolean(response.writeHead(500).end())
  await t.rejects(signIn.begin(), { message: /^127.0.0.1:\d+ does not respond as expected: / })
  issuer.fault = (request) => Boolean(request.socket.destroy())
  await t.rejects(signIn.begin(), { message: /^127.0.0.1:\d+ cannot be reached/ })
})

t.test('without HTTPS, nobody signs in', async (t) => {
  const { signIn } = await start(t)
  openTab(t, { isSecureContext: false })
  await t.rejects(signIn.begin(), { message: /requires HTTPS/ })
})

t.test('an issuer without a page for signing out has no URL for it', async (t) => {
  const setting = await start(t, { signsOut: false })
  t.equal((await signInAs(setting)).signOutUrl(), undefined)
})

t.test('a person stays signed in until the session at the issuer ends', async (t) => {
  const { now } = Date
  let hours = 0
  t.intercept(Date, 'now', { value: () => now() + 3_600_000 * hours })
  const setting = await start(t, { lifetimeSeconds: 3600 })
  const { issuer } = setting
  const person = await signInAs(setting)
  const first = await person.accessToken()
  t.equal(await person.accessToken(), first)
  hours = 1
  const respond = (status: number, body: object) => {
    issuer.fault = (_request, response) =>
      Boolean(
        response
          .writeHead(status, { 'content-type': 'application/json' })
          .end(JSON.stringify(body)),
      )
  }
  for (const status of [429, 500]) {
    respond(status, { error: 'busy' })
    const failure = await person.accessToken().catch((error) => error)
    t.match(
      explain(failure),
      /^Your session cannot be extended, because 127.0.0.1:\d+ is unavailable/,
    )
    t.equal(isTransient(failure), true)
    t.equal(isRejected(failure), false)
  }
  respond(400, { error: 'invalid_grant' })
  const failure = await person.accessToken().catch((error) => error)
  t.equal(explain(failure), 'Your session has ended.')
  t.equal(isRejected(failure), true)
})

/** A service that people sign in to with an issuer, and its page in a tab. */
async function startPage(
  t: Test,
  {
    app = {},
    ...options
  }: {
    app?: Partial<BrowserApp>
    config?: { oidcAudience?: string }
    fault?: Issuer['fault']
  } = {},
) {
  const { config, fault } = options
  if (fault !== undefined) issuer.fault = fault
  const service = await startService(t, {
    config: { ...issuer.config, ...PAGE_CLIENT, ...config },
    // The client does not wait for that long.
    ...(fault && { issuer: { cooldownMs: 3_600_000 } }),
  })
  const url = `${service.url}/`
  await issuer.register({ url, ...app })
  const tab = openTab(t)
  tab.open(url)
  return { issuer, url, tab, signIn: new SignIn(settingsOf(issuer)) }
}

t.test('a person who has signed in has a session, and another one after a reload', async (t) => {
  const { issuer, url, tab, signIn } = await startPage(t)
  t.equal(await resumeSession(signIn), undefined)
  tab.open(await authenticate(await signIn.begin()))
  t.equal(canResume(), true)
  const session = await resumeSession(signIn)
  t.match(session, { name: "ada's name", expiresAt: undefined, canRead: true, canWrite: true })
  t.same((await session?.client.listPlants())?.plants, [])
  t.equal(tab.location.href, url)

  t.equal(canResume(), true)
  const left = new Promise<void>((resolve) => {
    tab.open = (next) => {
      Tab.prototype.open.call(tab, next)
      resolve()
    }
  })
  resumeSession(signIn)
  await left
  t.match(tab.location.href, `${issuer.url}/auth?`)
  tab.open(url)
  t.equal(canResume(), false, 'the person may have gone back')
})

t.test('a person whom the service rejects has no session', async (t) => {
  const { tab, signIn } = await startPage(t, { config: { oidcAudience: 'other' } })
  tab.open(await authenticate(await signIn.begin()))
  await t.rejects(resumeSession(signIn), { message: /does not accept the token/ })
  t.equal(canResume(), false)
})

t.test('a person who has signed in can try again if the service is unavailable', async (t) => {
  const { tab, signIn } = await startPage(t, {
    fault: ({ url }, response) => url === JWKS && Boolean(response.writeHead(500).end()),
  })
  tab.open(await authenticate(await signIn.begin()))
  const error = await resumeSession(signIn).catch((error) => error)
  t.match(explain(error), /^The token cannot be verified yet/)
  t.equal(isRejected(error), false)
  t.equal(canResume(), true)
})

t.test('a person without a name is called as in the access token', async (t) => {
  const { tab, signIn } = await startPage(t, { app: { claims: () => ({}) } })
  tab.open(await authenticate(await signIn.begin()))
  t.equal((await resumeSession(signIn))?.name, 'ada')
})
