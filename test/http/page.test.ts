/** The page at `/` and its files. */
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { brotliDecompressSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { extendContract, loadContract } from '../../core/contract/contract.ts'
import { known } from '../../core/known.ts'
import type { OwnField } from '../../core/members/own-fields.ts'
import { type Config, defaultConfig } from '../../src/config/config.ts'
import { loadPage } from '../../src/http/page.ts'
import { type Service, startService } from '../helpers/service/service.ts'

/** What browsers send when a person opens a URL. */
const BROWSERS = {
  Chromium:
    'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8',
  Firefox: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  Safari: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
}

const HTML = { accept: BROWSERS.Chromium }

let service: Service
t.before(async () => {
  service = await startService(t)
})

/** Requests a path without a token. */
const call = (path: string, headers: Readonly<Record<string, string>> = {}, of = service) =>
  of.call({ method: 'GET', path, headers, token: null })

/** The page, and the paths of the files that it loads. */
async function readPage(): Promise<{ html: string; paths: string[] }> {
  const { body: html } = await call('/', HTML)
  const references = html.matchAll(/<(?:script|link) [^>]*(?:src|href)="([^"]*)"/g)
  return { html, paths: Array.from(references, ([, reference]) => `/${reference}`) }
}

for (const [browser, accept] of Object.entries(BROWSERS)) {
  t.test(`${browser} gets the page`, async (t) => {
    for (const path of ['/', '/?from=bookmark']) {
      const { status, headers, body } = await call(path, { accept })
      t.equal(status, 200)
      t.equal(headers['content-type'], 'text/html; charset=utf-8')
      t.equal(headers.vary, 'Accept, Accept-Encoding')
      t.match(body, /^<!doctype html>[\s\S]*<\/html>\n$/)
    }
  })
}

for (const accept of [
  undefined,
  '*/*',
  'application/json',
  'application/json, text/plain, */*',
  'text/html;q=0.5, application/json',
  'image/*',
  ';q=1,,"',
  // It would take long to parse.
  `text/html${',x/y'.repeat(1000)}`,
]) {
  t.test(`Accept: ${accept?.slice(0, 40)} is redirected to the docs`, async (t) => {
    const { status, headers } = await call('/', accept === undefined ? {} : { accept })
    t.equal(status, 302)
    t.equal(headers.location, './documentation')
    t.equal(headers.vary, 'Accept')
  })
}

t.test('the page finds its files below it, behind any prefix', async (t) => {
  const { paths } = await readPage()
  const loaded = Object.fromEntries(
    await Promise.all(
      paths.map(async (path) => {
        const { status, headers, body } = await call(path)
        t.equal(status, 200, path)
        t.not(body, '')
        return [path, headers['content-type']]
      }),
    ),
  )
  t.match(loaded, {
    '/page/icon.svg': 'image/svg+xml',
    '/page/main.css': 'text/css; charset=utf-8',
    '/page/main.js': 'text/javascript; charset=utf-8',
  })
})

t.test('the page loads nothing from third parties and has nothing inline', async (t) => {
  const { html, paths } = await readPage()
  t.notMatch(html, /<script[^>]*>[^<]|<style|\bstyle=|\bon\w+=|https?:/)
  for (const path of ['/', ...paths]) {
    const policy = `${(await call(path, HTML)).headers['content-security-policy']}`
    t.match(policy, "default-src 'none'; script-src 'self'; style-src 'self';")
    t.notMatch(policy, 'unsafe')
  }
})

for (const path of [
  '/page/',
  '/page/nothing.js',
  '/page/index.html',
  '/page/main.tsx',
  '/page/main.js/',
  '/page//main.js',
  '/page/main.js%00',
  '/page/..%2fpackage.json',
  '/page/../package.json',
  '/page/constructor',
  `/page/${'long'.repeat(1000)}`,
]) {
  t.test(`${path.slice(0, 60)} does not exist`, async (t) => {
    const answer = await service.call({ method: 'GET', path, token: null })
    t.match(answer, { status: 404, json: { error: 40401 } })
  })
}

t.test('methods other than GET and HEAD are rejected', async (t) => {
  for (const path of ['/', '/page/main.js']) {
    const { status, headers } = await service.call({ path, body: {}, token: null })
    t.equal(status, 405)
    t.equal(headers.allow, 'GET, HEAD, OPTIONS')
  }
})

t.test('with --page off, browsers get the redirect too, and there are no files', async (t) => {
  const off = await startService(t, { config: { page: false } })
  const root = await call('/', HTML, off)
  t.match(root, { status: 302, headers: { location: './documentation' } })
  t.equal(root.headers.vary, undefined)
  for (const path of ['/page/', '/page/main.js', '/page/nothing']) {
    t.equal((await off.call({ method: 'GET', path, token: null })).status, 401)
    t.equal((await off.call({ method: 'GET', path })).status, 404)
  }
})

t.test('with --docs off, all clients get the page, which knows it', async (t) => {
  const off = await startService(t, { config: { docs: false } })
  for (const headers of [HTML, {}]) {
    const page = await call('/', headers, off)
    t.match(page, { status: 200, headers: { vary: 'Accept-Encoding' } })
    t.match(page.body, 'page/main.js')
  }
  t.strictSame(settingsIn((await call('/', HTML, off)).body), { docs: false, fields: [] })
  t.equal((await off.call({ method: 'GET', path: '/documentation' })).status, 404)
})

/** What a document tells the page. */
function settingsIn(html: string): unknown {
  const [, attribute = ''] =
    /<meta name="plant-store" content="([^"]*)">\n<\/head>/.exec(html) ?? []
  return JSON.parse(attribute.replaceAll('&quot;', '"').replaceAll('&amp;', '&'))
}

/** Loads the document and a script with a configuration, and returns the settings in it and the policies of both. */
async function load(t: Test, config: Partial<Config>, fields: readonly OwnField[] = []) {
  const document = readFileSync(new URL('../../dist/page/index.html', import.meta.url))
  const folder = t.testdir({ 'index.html': document, 'main.js': '' })
  const contract = extendContract(loadContract(), fields)
  const configured = { ...defaultConfig(), ...config }
  const files = await loadPage(configured, contract, pathToFileURL(`${folder}/`))
  const [html, script] = [known(files.get('index.html')), known(files.get('main.js'))]
  const settings = settingsIn(Buffer.from(html.identity).toString())
  return { settings, policy: html.policy, scriptPolicy: script.policy }
}

t.test('the page knows the own fields of plants', async (t) => {
  const schema = { type: 'string', title: '"><script>alert(1)</script>' } as const
  const { settings } = await load(t, {}, [{ name: 'constructor', schema }])
  const fields = [{ name: 'constructor', type: 'string', isRequired: false, schema }]
  t.strictSame(settings, { docs: true, fields })
})

t.test('the page knows how people sign in, and can call the issuer', async (t) => {
  const issuer = 'https://id.example:8443/realms/"&amp;<'
  const clientId = '"><script>alert(1)</script>&quot;'
  const config = { oidcIssuer: issuer, oidcAudience: 'urn:plants', oidcReadScope: 'read' }
  const { settings, policy, scriptPolicy } = await load(t, { ...config, oidcClientId: clientId })
  const signIn = { issuer, clientId, audience: 'urn:plants', scopes: ['read', 'plants:write'] }
  t.strictSame(settings, { docs: true, signIn, fields: [] })
  const connect = "connect-src 'self'"
  t.equal(policy, scriptPolicy.replace(connect, `${connect} https://id.example:8443`))
  t.match(policy, /script-src 'self';/)
  // Without a client of the issuer, the page asks for tokens only.
  const usual = { settings: { docs: true, fields: [] }, policy: scriptPolicy, scriptPolicy }
  for (const others of [config, {}]) t.strictSame(await load(t, others), usual)
  const served = await call('/', HTML)
  t.strictSame(settingsIn(served.body), usual.settings)
  t.equal(served.headers['content-security-policy'], scriptPolicy)
})

t.test('all files of the built page are served, whatever their names', async (t) => {
  const folder = t.testdir({ 'index.html': '<!doctype html>', 'read-5GFP2UQB.js': 'read()' })
  const files = await loadPage(defaultConfig(), loadContract(), pathToFileURL(`${folder}/`))
  t.same([...files.keys()].sort(), ['index.html', 'read-5GFP2UQB.js'])
  const { type, br } = files.get('read-5GFP2UQB.js') ?? {}
  t.equal(type, 'text/javascript; charset=utf-8')
  t.equal(String(brotliDecompressSync(br ?? '')), 'read()')
})

t.test('without a built page, the error names the commands that build it', async (t) => {
  await t.rejects(loadPage(defaultConfig(), loadContract(), pathToFileURL(`${t.testdir()}/`)), {
    code: 'unknown-path',
    message: 'the page is not built: run npm ci, then npm run page',
  })
})
