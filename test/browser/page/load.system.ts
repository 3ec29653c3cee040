/** What a phone on a slow network loads before it shows the page. */
import type { CDPSession } from 'playwright-core'
import t, { type Test } from 'tap'
import { startService } from '../../helpers/service/service.ts'
import { PHONE, testInBrowser } from '../plants-page.ts'

/** Lighthouse's slow 4G: 1.6 Mbit/s, and 150 ms until a response begins. */
const NETWORK = { offline: false, latency: 150, downloadThroughput: 2e5, uploadThroughput: 94e3 }

/** Bytes of the first load, with headers. */
const BYTES_MAX = 60_000

/** A request of the page. Times are in seconds. */
interface Load {
  readonly path: string
  readonly sent: number
  /** When the response began. */
  began: number
  /** With headers. */
  bytes: number
}

testInBrowser(t, 'the page of a slow phone', (_open, browser) => {
  t.test('the page loads in one round of requests and at most 60 kB', async (t) => {
    const service = await startService(t)
    const context = await browser().newContext(PHONE)
    t.teardown(() => context.close())
    const page = await context.newPage()
    const devtools = await context.newCDPSession(page)
    await devtools.send('Network.enable')
    await devtools.send('Network.emulateNetworkConditions', NETWORK)
    const loads = recordLoads(devtools)

    for (const visit of ['first', 'second']) {
      loads.length = 0
      await page.goto(service.url, { waitUntil: 'commit' })
      await page.locator('input[type=password]').waitFor()
      await page.waitForLoadState('networkidle')
      const bytes = loads.reduce((sum, load) => sum + load.bytes, 0)
      t.ok(bytes <= BYTES_MAX, `${visit} visit: ${bytes} bytes, ${list(loads)}`)
      assertOneRound(t, loads)
    }
  })
})

function recordLoads(devtools: CDPSession): Load[] {
  const loads: Load[] = []
  const byId = new Map<string, Load>()
  devtools.on('Network.requestWillBeSent', ({ requestId, request, timestamp }) => {
    const { protocol, pathname } = new URL(request.url)
    if (protocol === 'data:') return
    const load = { path: pathname, sent: timestamp, began: Number.POSITIVE_INFINITY, bytes: 0 }
    byId.set(requestId, load)
    loads.push(load)
  })
  devtools.on('Network.responseReceived', ({ requestId, timestamp }) => {
    const load = byId.get(requestId)
    if (load !== undefined) load.began = timestamp
  })
  devtools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const load = byId.get(requestId)
    if (load !== undefined) load.bytes = encodedDataLength
  })
  return loads
}

/** All that the page needs is requested before the first of it arrives. Only the icon can appear later. */
function assertOneRound(t: Test, [document, ...others]: readonly Load[]): void {
  t.equal(document?.path, '/')
  const needed = others.filter(({ path }) => path !== '/page/icon.svg')
  const began = Math.min(...needed.map(({ began }) => began))
  for (const { path, sent } of needed) t.ok(sent < began, `${path} is in the first round`)
}

function list(loads: readonly Load[]): string {
  return loads.map(({ path, bytes }) => `${path} ${bytes}`).join(', ')
}
