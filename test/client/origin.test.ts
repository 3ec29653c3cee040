/** The client in a page, which here is Node with a page's globals. test/browser/cors.system.ts uses a real browser. */

import t, { type Test } from 'tap'
import { type ClientOptions, createClient } from '../../client/client.ts'
import { startFaulty } from '../faults/faulty-service.ts'
import { createIn } from '../helpers/plants/single-changes.ts'
import { type Service, startService } from '../helpers/service/service.ts'
import { startFaultyProxy, thrownBy } from './faulty-proxy.ts'

const PAGE = 'https://app.example/pages/first?query#fragment'

let service: Service
t.before(async () => {
  service = await startService(t)
  await createIn(service.store, { id: 1n, name: 'Abies alba Mill.' })
})

/** Defines the globals of a page until the test ends. */
function enterPage(t: Test, href: string, origin = new URL(href).origin): void {
  const location = { href, origin: new URL(href).origin }
  t.intercept(globalThis as { location?: object }, 'location', { value: location })
  t.intercept(globalThis as { origin?: string }, 'origin', { value: origin })
}

const RELATIVE: [url: string, page: string][] = [
  ['/store', '/pages/first?query#fragment'],
  ['/store/', '/'],
  ['../store', '/pages/first?query#fragment'],
  ['store', '/page'],
  ['', '/store#fragment'],
]
for (const [url, page] of RELATIVE) {
  t.test(`the URL '${url}' is relative to a page with the path ${page}`, async (t) => {
    const proxy = await startFaultyProxy(t, service, [], '/store')
    enterPage(t, new URL(page, proxy.url).href)
    t.match(await createClient({ url, token: service.token }).getPlant(1n), { plant: { id: 1n } })
    t.match(proxy.requests, [{ line: 'GET /store/plants/1' }])
  })
}

t.test('a <base> element changes what a URL is relative to', async (t) => {
  const proxy = await startFaultyProxy(t, service, [], '/store')
  enterPage(t, PAGE)
  const document = { baseURI: new URL('/base/', proxy.url).href }
  t.intercept(globalThis as { document?: object }, 'document', { value: document })
  const client = createClient({ url: '../store', token: service.token })
  t.match(await client.getPlant(1n), { plant: { id: 1n } })
})

t.test('an absolute URL does not depend on the page', async (t) => {
  const { url, token } = service
  for (const page of [PAGE, 'about:srcdoc', 'blob:https://app.example/0b3f', 'file:///page.html']) {
    await t.test(page, async (t) => {
      enterPage(t, page)
      t.match(await createClient({ url, token }).getPlant(1n), { plant: { id: 1n } })
      t.throws(() => createClient({ url: 'ftp://host', token }), /^invalid url: /)
    })
  }
})

t.test('a relative URL is rejected in a page without an HTTP URL', async (t) => {
  enterPage(t, 'about:srcdoc')
  t.throws(() => createClient({ url: '/store', token: 'x' }), { name: 'TypeError' })
})

const blocked = async () => {
  throw new TypeError('Failed to fetch')
}

/** What a call with a failing request rejects with. */
async function failure(options: Partial<ClientOptions>) {
  const client = createClient({ url: service.url, token: 'x', retries: 0, ...options })
  return thrownBy(client.getPlant(1n)) as Promise<Error>
}

t.test('if a browser may have blocked a request, the error mentions --cors-origin', async (t) => {
  enterPage(t, PAGE)
  t.match(await failure({ fetch: blocked }), {
    name: 'ConnectionError',
    message: `no response from ${service.url}: if the service is running, check that its --cors-origin allows https://app.example`,
    cause: { message: 'Failed to fetch' },
  })
})

t.test('in a sandbox, the error mentions the origin null', async (t) => {
  enterPage(t, `${service.url}/page`, 'null')
  t.match(await failure({ fetch: blocked }), { message: /--cors-origin allows null$/ })
})

t.test('without a global origin, the error mentions that of the location', async (t) => {
  enterPage(t, PAGE)
  t.intercept(globalThis as { origin?: undefined }, 'origin', { value: undefined })
  t.match(await failure({ fetch: blocked }), {
    message: /--cors-origin allows https:..app.example$/,
  })
})

/** Asserts that an error does not suggest that the browser blocked the request. */
function assertNoAdvice(t: Test, error: Error, url: string): void {
  t.match(error, { name: 'ConnectionError', message: new RegExp(`^no response from ${url}$`) })
}

t.test(
  'the error does not mention it if the browser cannot have blocked the request',
  async (t) => {
    await t.test('outside of a browser', async (t) => {
      assertNoAdvice(t, await failure({ fetch: blocked }), service.url)
    })
    await t.test('to the origin of the page', async (t) => {
      enterPage(t, 'https://app.example/page')
      const error = await failure({ url: '/store', fetch: blocked })
      assertNoAdvice(t, error, 'https://app.example/store')
    })
    await t.test('that timed out', async (t) => {
      enterPage(t, PAGE)
      const expired = async () => AbortSignal.abort().throwIfAborted() as never
      assertNoAdvice(t, await failure({ fetch: expired }), service.url)
    })
    await t.test('whose response has begun', async (t) => {
      const { service: cutting } = await startFaulty(t, [{ cut: 'in-body' }])
      enterPage(t, PAGE)
      const { url, token } = cutting
      assertNoAdvice(t, await failure({ url, token }), url)
    })
  },
)
