/** The guides, which are rendered from docs/, and the links to them. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { GUIDES } from '../../../tools/build/guide-pages.ts'
import { contract } from '../../helpers/service/contract-check.ts'
import { type Service, startService } from '../../helpers/service/service.ts'

let service: Service
t.before(async () => {
  service = await startService(t)
})

const PATHS = ['', ...GUIDES].map((name) => `/documentation/guides/${name}`)

const pages = new Map<string, Promise<string>>()

/** Requests a page like a browser, without a token, unless it has been read. */
function read(path: string, { url } = service): Promise<string> {
  const page = pages.get(url + path) ?? fetchPage(url + path)
  pages.set(url + path, page)
  return page
}

async function fetchPage(url: string): Promise<string> {
  const response = await fetch(url, { headers: { accept: 'text/html' } })
  t.equal(response.status, 200, url)
  return response.text()
}

/** The URLs in a page, resolved like a browser does at an address. */
function linksIn(html: string, address: string): URL[] {
  const links = html.matchAll(/ (?:href|src)="([^"]*)"/g)
  return [...links].map(([, link = '']) => new URL(link, address))
}

function anchorsIn(html: string): string[] {
  return [...html.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id)
}

for (const path of PATHS) {
  t.test(`the links in ${path} lead to existing pages and headings`, async (t) => {
    const root = 'http://proxy/some/prefix'
    const links = linksIn(await read(path), root + path)
    t.ok(links.length > GUIDES.length)
    for (const { href, origin, protocol, hash } of links) {
      if (origin !== 'http://proxy') {
        t.equal(protocol, 'https:', href)
        continue
      }
      t.ok(href.startsWith(`${root}/`), href)
      const target = await read(href.slice(root.length).replace(hash, ''))
      if (hash !== '') t.ok(anchorsIn(target).includes(hash.slice(1)), href)
    }
  })
}

t.test('the guides name no document that is not served', async (t) => {
  for (const path of PATHS) t.notMatch((await read(path)).replace(/ href="[^"]*"/g, ''), /\.md\b/)
})

t.test('the links in the contract lead to existing guides and headings', async (t) => {
  const links = JSON.stringify(contract).matchAll(/\]\((\/[^)#]*)(?:#([^)]*))?\)/g)
  const seen: string[] = []
  for (const [, path = '', anchor] of links) {
    const target = await read(path)
    seen.push(path)
    if (anchor !== undefined) t.ok(anchorsIn(target).includes(anchor), `${path}#${anchor}`)
  }
  for (const name of ['', 'http-api', 'changes', 'webhooks', 'access']) {
    t.ok(seen.includes(`/documentation/guides/${name}`), name)
  }
})

t.test('the guides link to each other and to the docs, and say which one is open', async (t) => {
  const html = await read('/documentation/guides/changes')
  const paths = linksIn(html, 'http://here/documentation/guides/changes').map((url) => url.pathname)
  for (const path of PATHS) t.ok(paths.includes(path), path)
  t.ok(paths.includes('/documentation'))
  t.match(html, '<a href="changes" aria-current="page">The change feed</a>')
  t.match(html, '<title>The change feed – Plant Store</title>')
})

t.test('the guides link to the page if there is one', async (t) => {
  const toPage = '<a href="../../">Plants</a>'
  const off = await startService(t, { config: { page: false } })
  for (const path of PATHS) t.equal((await read(path)).split(toPage).length, 2, path)
  for (const path of PATHS.slice(0, 2)) t.notMatch(await read(path, off), toPage)
})

t.test('/documentation/guides redirects to the list of guides', async (t) => {
  const { status, headers } = await service.call({
    method: 'GET',
    path: '/documentation/guides',
    token: null,
  })
  t.equal(status, 302)
  const { pathname } = new URL(`${headers.location}`, 'http://proxy/prefix/documentation/guides')
  t.equal(pathname, '/prefix/documentation/guides/')
})

t.test('the guides have the Content Security Policy of the docs, and no scripts', async (t) => {
  const policyOf = async (path: string) =>
    (await fetch(service.url + path)).headers.get('content-security-policy')
  for (const path of PATHS) {
    t.equal(await policyOf(path), await policyOf('/documentation'))
    t.notMatch(await read(path), /<script| style=/)
  }
})

t.test('the images in the guides are served', async (t) => {
  const response = await fetch(`${service.url}/documentation/guides/nursery.png`)
  t.equal(response.headers.get('content-type'), 'image/png')
  const file = readFileSync(new URL('../../../docs/nursery.png', import.meta.url))
  t.ok(Buffer.from(await response.arrayBuffer()).equals(file))
})
