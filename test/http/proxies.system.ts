/** Proxies that compress responses change their entity tags, and the configurations in docs/deploying.md do not. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createClient, ServiceError } from '../../client/client.ts'
import { freePort } from '../../tools/postgres/postgres-server.ts'
import { until } from '../helpers/processes/until.ts'
import { type Service, startService } from '../helpers/service/service.ts'

const GUIDE = readFileSync(new URL('../../docs/deploying.md', import.meta.url), 'utf8')

/** A server that can be a proxy. */
interface Proxy {
  readonly name: string
  /** Its path in Debian's package. */
  readonly program: string
  /** The lines in the guide, with these ports. */
  readonly documented: (port: number, servicePort: number) => string
  /** The same lines, but it compresses JSON. */
  readonly compressing: (port: number, servicePort: number) => string
  /** A whole configuration. */
  readonly configuration: (folder: string, port: number, lines: string) => string
  readonly args: (file: string) => string[]
}

const isRoot = process.getuid?.() === 0

const NGINX: Proxy = {
  name: 'nginx',
  program: '/usr/sbin/nginx',
  documented: (port, servicePort) =>
    documentedLines('nginx', servicePort).replace(/listen .*/, `listen 127.0.0.1:${port};`),
  compressing: (port, servicePort) =>
    NGINX.documented(port, servicePort).replace(
      'gzip off;',
      'gzip on; gzip_types application/json; gzip_proxied any;',
    ),
  configuration: (folder, _port, lines) => `
    daemon off; pid ${folder}/pid; error_log stderr; ${isRoot ? 'user root;' : ''}
    events {}
    http {
      access_log off;
      client_body_temp_path ${folder}/bodies;
      proxy_temp_path ${folder}/responses;
      ${lines}
    }`,
  args: (file) => ['-c', file],
}

const MODULES = [
  'mpm_event',
  'authz_core',
  'env',
  'filter',
  'headers',
  'deflate',
  'proxy',
  'proxy_http',
]

const APACHE: Proxy = {
  name: 'Apache',
  program: '/usr/sbin/apache2',
  documented: (port, servicePort) =>
    documentedLines('apache', servicePort).replace(
      /<VirtualHost .*/,
      `<VirtualHost 127.0.0.1:${port}>`,
    ),
  compressing: (port, servicePort) =>
    APACHE.documented(port, servicePort).replace(
      /SetEnv no-gzip 1[^<]*/,
      'AddOutputFilterByType DEFLATE application/json\n',
    ),
  configuration: (folder, port, lines) => `
    ${MODULES.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`).join('\n')}
    ServerRoot ${folder}
    ServerName localhost
    PidFile ${folder}/pid
    ErrorLog ${folder}/log
    Listen 127.0.0.1:${port}
    ${isRoot ? 'User www-data\nGroup www-data' : ''}
    ${lines}`,
  args: (file) => ['-D', 'FOREGROUND', '-f', file],
}

function documentedLines(language: string, servicePort: number): string {
  const [, lines] = new RegExp(`\`\`\`${language}\n([^\`]*)\`\`\``).exec(GUIDE) ?? []
  if (lines === undefined) throw new Error(`docs/deploying.md has no block of ${language}`)
  return lines.replace('127.0.0.1:3000', `127.0.0.1:${servicePort}`)
}

/**
 * So repetitive that Apache compresses the plants. The version of the second one is a hash, and the name of the third one
 * ends like a tag that Apache has changed.
 */
const NAMES = ['Abies '.repeat(9), 'x'.repeat(100), `${'Abies '.repeat(9)}-gzip`]

/** Why a test is skipped; false if the program is there. */
function missing({ name, program }: Proxy): string | false {
  return spawnSync(program, ['-v']).error !== undefined && `${name} is missing`
}

for (const proxy of [NGINX, APACHE]) {
  const skip = missing(proxy)

  t.test(`through ${proxy.name} as documented, entity tags stay the same`, { skip }, async (t) => {
    const { service, url } = await start(t, proxy, proxy.documented)
    for (const name of NAMES) await useWithFetch(t, url, service, name, (tag) => tag)
    await useClient(t, url, service)
  })

  t.test(`through ${proxy.name} as documented, the service answers itself`, { skip }, async (t) => {
    const { service, url } = await start(t, proxy, proxy.documented)
    const tooLarge = await request(url, service, 'POST', '/plants', { name: 'x'.repeat(1_100_000) })
    t.match(await tooLarge.json(), { error: 41301 })
    const page = await request(url, service, 'GET', '/')
    t.equal(page.headers.get('content-encoding'), 'br')
  })

  t.test(`through ${proxy.name} with compression, the client works`, { skip }, async (t) => {
    const { service, url } = await start(t, proxy, proxy.compressing)
    await useClient(t, url, service)
  })
}

t.test(
  'through Apache with compression, any client works',
  { skip: missing(APACHE) },
  async (t) => {
    const { service, url } = await start(t, APACHE, APACHE.compressing)
    for (const name of NAMES)
      await useWithFetch(t, url, service, name, (tag) => `${tag.slice(0, -1)}-gzip"`)
  },
)

t.test(
  'through nginx with compression, a 412 names the cure',
  { skip: missing(NGINX) },
  async (t) => {
    const { service, url } = await start(t, NGINX, NGINX.compressing)
    await request(url, service, 'POST', '/plants', { id: 4, name: 'Abies alba Mill.' })
    const read = await request(url, service, 'GET', '/plants/4')
    const etag = read.headers.get('etag') ?? ''
    t.equal(etag, 'W/"name=Abies%20alba%20Mill."')
    for (const [method, body] of CHANGES) {
      const refused = await request(url, service, method, '/plants/4', body, { 'if-match': etag })
      t.equal(refused.status, 412)
      t.match(await refused.json(), { error: 41201, message: /weak ETag.* proxy that compresses/ })
    }
    const list = [{ op: 'remove', id: 4, ifMatch: etag }]
    const refused = await request(url, service, 'PATCH', '/plants', list)
    t.match(await refused.json(), { error: 40002, message: /without the W\/ that proxies add/ })
    for (const [method, body] of CHANGES) {
      const { headers } = await request(url, service, 'GET', '/plants/4')
      const strong = headers.get('etag')?.replace('W/', '')
      const made = await request(url, service, method, '/plants/4', body, { 'if-match': strong })
      t.ok(made.ok, `${method} ${strong}`)
    }
  },
)

const CHANGES: readonly (readonly [method: string, body?: object])[] = [
  ['PUT', { name: 'Abies alba Mill., 1759' }],
  ['PATCH', { tag: 'A tag that is long enough to be compressed' }],
  ['DELETE'],
]

/** Reads and changes a plant with the entity tags that the proxy sends. */
async function useWithFetch(
  t: Test,
  url: string,
  service: Service,
  name: string,
  changeTag: (tag: string) => string,
): Promise<void> {
  await request(url, service, 'POST', '/plants', { id: 4, name })
  const direct = await request(service.url, service, 'GET', '/plants/4')
  const read = await request(url, service, 'GET', '/plants/4')
  const etag = read.headers.get('etag') ?? ''
  t.equal(etag, changeTag(direct.headers.get('etag') ?? ''), name)
  for (const conditions of [{ 'if-none-match': etag }, { 'if-none-match': `W/${etag}` }]) {
    const known = await request(url, service, 'GET', '/plants/4', undefined, conditions)
    t.equal(known.status, 304, JSON.stringify(conditions))
  }
  t.equal(
    (await request(url, service, 'GET', '/plants/4', undefined, { 'if-match': etag })).status,
    200,
  )
  let current = etag
  for (const [method, body] of CHANGES) {
    const send = () => request(url, service, method, '/plants/4', body, { 'if-match': current })
    const made = await send()
    t.ok(made.ok, `${method} ${current}`)
    t.equal((await send()).status, method === 'DELETE' ? 404 : 412, 'an old tag')
    current = made.headers.get('etag') ?? ''
  }
  await request(url, service, 'POST', '/plants', { id: 4, name })
  const list = [{ op: 'update', id: 4, tag: 'x', ifMatch: etag }]
  t.match(await (await request(url, service, 'PATCH', '/plants', list)).json(), { changed: 1 })
  t.match(await (await request(url, service, 'PATCH', '/plants', list)).json(), { error: 41201 })
  await request(url, service, 'DELETE', '/plants/4')
}

/** The same with the client. */
async function useClient(t: Test, url: string, service: Service): Promise<void> {
  const client = createClient({ url, token: service.token })
  for (const name of NAMES) {
    await client.createPlant({ id: 5n, name })
    const { etag } = await client.getPlant(5n)
    const direct = await request(service.url, service, 'GET', '/plants/5')
    t.equal(etag, direct.headers.get('etag'), name)
    t.equal(await client.getPlant(5n, { ifNoneMatch: etag }), undefined)
    const tag = 'A tag that is long enough to be compressed'
    const patched = await client.updatePlant(5n, { tag }, { ifMatch: etag })
    const content = { name, tag: 'x' }
    const replaced = await client.replacePlant(5n, content, { ifMatch: patched.etag })
    await t.rejects(client.deletePlant(5n, { ifMatch: etag }), ServiceError)
    const ifMatch = replaced.etag ?? ''
    await client.changePlants([{ op: 'update', id: 5n, name, tag, ifMatch }])
    await client.deletePlant(5n, { ifMatch: patched.etag })
  }
}

function request(
  url: string,
  { token }: Service,
  method: string,
  path: string,
  body?: object,
  conditions: object = {},
): Promise<Response> {
  const isPatch = method === 'PATCH' && path !== '/plants'
  const type = isPatch ? 'application/merge-patch+json' : 'application/json'
  return fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      // Node's fetch offers Brotli only over TLS.
      'accept-encoding': 'gzip, br',
      ...(body && { 'content-type': type }),
      ...conditions,
    },
    ...(body && { body: JSON.stringify(body) }),
  })
}

/** Starts a service, and a proxy at the returned URL. Both stop when the test ends. */
async function start(t: Test, proxy: Proxy, lines: Proxy['documented']) {
  const service = await startService(t)
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-proxy-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const port = await freePort()
  const file = join(folder, 'configuration')
  writeFileSync(file, proxy.configuration(folder, port, lines(port, service.port)))
  const child = spawn(proxy.program, proxy.args(file), { stdio: ['ignore', 'ignore', 'inherit'] })
  t.teardown(() => stop(child))
  const url = `http://127.0.0.1:${port}/store`
  await until(
    `${proxy.name} accepts connections or ends`,
    async () => child.exitCode !== null || (await fetch(`${url}/health/live`)).ok,
  )
  if (child.exitCode !== null) throw new Error(`${proxy.name} ended with code ${child.exitCode}`)
  return { service, url }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'close')
  child.kill('SIGTERM')
  await gone
}
