/** The files of the docs and the page: where they are, content codings, validators and cache lifetimes. */
import { readFileSync } from 'node:fs'
import fs from 'node:fs/promises'
import { type IncomingHttpHeaders, request } from 'node:http'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { buffer } from 'node:stream/consumers'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import t from 'tap'
import { known } from '../../../core/known.ts'
import { contract } from '../../helpers/service/contract-check.ts'
import { type Service, startService } from '../../helpers/service/service.ts'

const SHIPPED = [
  'index.css',
  'swagger-ui-bundle.js',
  'swagger-ui-standalone-preset.js',
  'swagger-ui.css',
]

const DOCS = [
  '',
  '/',
  '/json',
  '/yaml',
  '/static/swagger-initializer.js',
  '/static/theme/docs.css',
  '/static/theme/docs.svg',
  '/guides/',
  '/guides/changes',
  '/guides/guides.css',
  ...SHIPPED.map((name) => `/static/${name}`),
].map((path) => `/documentation${path}`)

const PATHS = [...DOCS, '/', '/page/main.js', '/page/main.css']

const DECODERS = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  identity: (content: Buffer) => content,
}

const CODINGS = Object.keys(DECODERS) as (keyof typeof DECODERS)[]

const ONE = '/documentation/static/index.css'

let service: Service
/** Each path in each coding. */
const files = new Map<string, Record<keyof typeof DECODERS, Fetched>>()
t.before(async () => {
  service = await startService(t)
  for (const path of PATHS) {
    const [br, gzip, identity] = await Promise.all([
      call(path, { 'accept-encoding': 'br' }),
      call(path, { 'accept-encoding': 'gzip' }),
      call(path),
    ])
    files.set(path, { br, gzip, identity })
  }
})

interface Fetched {
  readonly status: number | undefined
  readonly headers: IncomingHttpHeaders
  readonly content: Buffer
}

/** Sends a request like a browser, but unlike `fetch` neither decodes the content nor adds an `Accept-Encoding`. */
function call(path: string, headers: IncomingHttpHeaders = {}, method = 'GET'): Promise<Fetched> {
  return new Promise((resolve, reject) => {
    const accept = { accept: 'text/html', ...headers }
    request(service.url + path, { headers: accept, method, agent: false }, async (response) => {
      const { statusCode: status, headers } = response
      resolve({ status, headers, content: await buffer(response) })
    })
      .on('error', reject)
      .end()
  })
}

const TYPES = { css: 'text/css', js: 'application/javascript', svg: 'image/svg+xml' }

t.test('the docs find all their files below them, at any prefix', async (t) => {
  for (const path of ['/documentation', '/documentation/']) {
    const { status, headers, content } = known(files.get(path)).identity
    t.match(
      { status, type: headers['content-type'] },
      { status: 200, type: 'text/html; charset=utf-8' },
    )
    const html = content.toString()
    t.match(html, `<title>${contract.info.title}</title>`)
    const references = [...html.matchAll(/ (?:src|href)="([^"]*)"/g)]
    t.equal(references.length, 7)
    for (const prefix of ['', '/documentation/of']) {
      for (const [, reference = ''] of references) {
        const { href } = new URL(reference, `http://proxy${prefix}${path}`)
        t.ok(href.startsWith(`http://proxy${prefix}/documentation/static/`), href)
        const { identity: file } = known(files.get(href.slice(`http://proxy${prefix}`.length)))
        t.equal(file.status, 200, href)
        t.match(file.headers['content-type'], TYPES[href.split('.').at(-1) as 'css'])
        t.not(file.content.length, 0)
      }
    }
  }
})

t.test('the stylesheets need nothing from third parties', async (t) => {
  for (const part of ['swagger-ui.css', 'index.css', 'theme/docs.css']) {
    const css = String(files.get(`/documentation/static/${part}`)?.identity.content)
    t.notMatch(css, /@import/)
    t.notMatch(css, /url\((?!["']?data:|"docs\.svg"\))/)
  }
})

t.test("the files of Swagger UI's package are served unchanged, in every coding", async (t) => {
  const require = createRequire(import.meta.url)
  for (const name of SHIPPED) {
    const shipped = readFileSync(require.resolve(`@fastify/swagger-ui/static/${name}`))
    const file = known(files.get(`/documentation/static/${name}`))
    for (const coding of CODINGS) {
      t.ok(DECODERS[coding](file[coding].content).equals(shipped), `${name}: ${coding}`)
    }
  }
})

t.test('gzip and brotli make each file smaller, and change nothing else', async (t) => {
  for (const [path, { identity, ...others }] of files) {
    t.equal(identity.headers['content-encoding'], undefined)
    const { etag, 'content-type': type } = identity.headers
    const vary = path === '/' ? 'Accept, Accept-Encoding' : 'Accept-Encoding'
    for (const coding of ['br', 'gzip'] as const) {
      const { headers, content } = others[coding]
      t.match(headers, { 'content-encoding': coding, 'content-type': type, etag, vary }, path)
      t.ok(content.length < identity.content.length, path)
      t.ok(DECODERS[coding](content).equals(identity.content), path)
    }
  }
})

for (const [accepted, coding] of [
  [undefined, 'identity'],
  ['gzip', 'gzip'],
  ['GZip', 'gzip'],
  ['gzip, deflate, br, zstd', 'br'],
  ['br;q=0.5, gzip;q=0.9', 'gzip'],
  ['gzip;q=0.5, identity', 'identity'],
  ['*', 'br'],
  ['gzip;q=0, br;q=0', 'identity'],
  ['identity;q=0, gzip', 'gzip'],
  // Nothing is acceptable: the header is ignored rather than answered with 406.
  ['identity;q=0', 'identity'],
  ['zstd, *;q=0', 'identity'],
  // Malformed or unknown.
  ['br;q=x', 'identity'],
  [';q=1,,"', 'identity'],
  ['__proto__, constructor', 'identity'],
  ['gzip;x="br', 'gzip'],
  [`gzip${',x;q=0.1'.repeat(100)}`, 'gzip'],
  [`gzip;${'"\\'.repeat(400)}`, 'gzip'],
  // It would take long to parse.
  [`gzip${',x;q=0.1'.repeat(1500)}`, 'identity'],
] as const) {
  t.test(`Accept-Encoding: ${accepted?.slice(0, 40)} selects ${coding}`, async (t) => {
    const headers = accepted === undefined ? {} : { 'accept-encoding': accepted }
    const answer = await call(ONE, headers)
    t.equal(answer.status, 200)
    t.equal(answer.headers['content-encoding'] ?? 'identity', coding)
    t.equal(answer.headers.vary, 'Accept-Encoding')
  })
}

t.test('entity tags are weak and unique to a file', async (t) => {
  const tags = [...files.values()].map(({ identity }) => identity.headers.etag)
  t.equal(new Set(tags).size, PATHS.length)
  for (const tag of tags) t.match(tag, /^W\/"[\w-]+"$/)
})

t.test('a known file is not sent again, and HEAD has the headers of GET', async (t) => {
  for (const [path, { gzip }] of files) {
    const { date: _date, 'x-request-id': _id, ...headers } = gzip.headers
    const accept = { 'accept-encoding': 'gzip' }
    const head = await call(path, accept, 'HEAD')
    t.match(head, { status: 200, content: { length: 0 }, headers }, path)
    const { etag, vary, 'cache-control': lifetime } = headers
    for (const method of ['GET', 'HEAD']) {
      const answer = await call(path, { ...accept, 'if-none-match': etag }, method)
      // RFC 9110 §15.4.5.
      const kept = { etag, vary, 'cache-control': lifetime }
      t.match(answer, { status: 304, content: { length: 0 }, headers: kept }, path)
      const dropped = ['content-type', 'content-encoding', 'content-length']
      t.notOk(dropped.some((name) => name in answer.headers))
    }
  }
})

t.test('If-None-Match with an entity tag in another form gets 304', async (t) => {
  const { etag } = (await call(ONE)).headers
  for (const known of [etag?.slice(2), `"x", ${etag}`, '*']) {
    t.equal((await call(ONE, { 'if-none-match': known })).status, 304, `${known}`)
  }
})

t.test('If-None-Match with an unknown tag or none gets 200', async (t) => {
  const { etag = '' } = (await call(ONE)).headers
  for (const known of ['"x"', etag.slice(3, -1), `x${'"'.repeat(10_001)}`]) {
    t.equal((await call(ONE, { 'if-none-match': known })).status, 200)
  }
})

t.test(
  'browsers cache the files of Swagger UI for an hour and revalidate everything else',
  async (t) => {
    for (const [path, { identity }] of files) {
      const { headers } = identity
      const shipped = SHIPPED.some((name) => path.endsWith(`/static/${name}`))
      t.equal(headers['cache-control'], shipped ? 'max-age=3600' : 'no-cache', path)
    }
  },
)

t.test('concurrent first requests share one read, and a failed read is repeated', async (t) => {
  const { url, app } = await startService(t)
  const sent = CODINGS.length
  const arrived = Promise.withResolvers<void>()
  let requests = 0
  app.server.on('request', () => ++requests === sent && arrived.resolve())
  const reads = t.capture(fs, 'readFile', async () => {
    await arrived.promise
    throw new Error('EMFILE')
  })
  syncBuiltinESMExports()
  const get = (coding: string) => fetch(url + ONE, { headers: { 'accept-encoding': coding } })
  for (const { status } of await Promise.all(CODINGS.map(get))) t.equal(status, 500)
  t.equal(reads().length, 1)
  reads.restore()
  syncBuiltinESMExports()
  for (const { status } of await Promise.all(CODINGS.map(get))) t.equal(status, 200)
})
