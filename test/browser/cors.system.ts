/** Web apps in a real browser that call the service from the same origin, an allowed one and another one. */

import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import type { Config } from '../../src/config/config.ts'
import { type Service, startService } from '../helpers/service/service.ts'
import { startAppServer } from './app-server.ts'
import { testInBrowser } from './plants-page.ts'

/** The client, in the page. */
declare const plantStore: typeof import('../../client/client.ts')

/** Where to send requests, and with which token. */
interface Access {
  readonly url: string
  readonly token: string
}

testInBrowser(t, 'web apps call the service', (_open, browser) => {
  let allowed: string
  let stranger: string
  let service: Service
  t.before(async () => {
    allowed = await startAppServer(t)
    stranger = await startAppServer(t)
    service = await start(t)
  })

  const start = (t: Test, config: Partial<Config> = {}) =>
    startService(t, { config: { corsOrigin: [allowed], ...config } })

  /** Opens an app with an empty profile. */
  async function open(t: Test, url: string): Promise<Page> {
    const page = await browser().newPage()
    t.teardown(() => page.close())
    await page.goto(url)
    await page.waitForFunction(() => 'plantStore' in globalThis)
    return page
  }

  t.test('an app on an allowed origin can use everything that the client offers', async (t) => {
    const page = await open(t, allowed)
    const { url, token } = service
    const result = await page.evaluate(useEverything, { url, token })
    t.strictSame(result, {
      created: { name: 'Abies alba Mill.', tag: 'Tree' },
      batch: { created: 3, unchanged: 0 },
      hasTag: true,
      isKnown: true,
      changed: 'Abies alba',
      replaced: 'Abies',
      counts: { created: 0, changed: 1, removed: 0, unchanged: 0 },
      ids: [1n, 2n, 3n, 2n ** 53n + 1n],
    })
    t.equal(await service.stored(2n ** 53n + 1n), undefined)
  })

  t.test('an app on another origin is blocked, and the error says what to check', async (t) => {
    const page = await open(t, stranger)
    const { url, token } = service
    const message = `no response from ${url}: if the service is running, check that its --cors-origin allows ${stranger}`
    t.match(await page.evaluate(createPlant, { url, token }), { name: 'ConnectionError', message })
    t.equal(await service.stored(100n), undefined)
  })

  t.test('an app on the same origin needs no CORS', async (t) => {
    const { port, token } = await startService(t)
    const page = await open(t, `${await startAppServer(t, port)}/pages/first?query#fragment`)
    const result = await page.evaluate(useEverything, { url: '/store', token })
    t.match(result, { created: { name: 'Abies alba Mill.' }, ids: [1n, 2n, 3n, 2n ** 53n + 1n] })
  })
})

/** Runs in the page, like all functions below. */
async function useEverything({ url, token }: Access) {
  const store = plantStore.createClient({ url, token, retries: 0 })
  const id = 2n ** 53n + 1n
  const { plant: created } = await store.createPlant({ id, name: 'Abies alba Mill.', tag: 'Tree' })
  const batch = await store.createPlants([1n, 2n, 3n].map((id) => ({ id, name: 'Acer' })))
  const { etag } = await store.getPlant(id)
  const unchanged = await store.getPlant(id, { ifNoneMatch: etag })
  const ids: bigint[] = []
  for await (const plant of store.plants({ pageSize: 1 })) ids.push(plant.id)
  const updated = await store.updatePlant(id, { name: 'Abies alba' }, { ifMatch: etag })
  const replaced = await store.replacePlant(id, { name: 'Abies' }, { ifMatch: updated.etag })
  await store.deletePlant(id)
  const counts = await store.changePlants([{ op: 'update', id: 1n, name: 'Acer rubrum L.' }])
  return {
    created,
    batch,
    hasTag: etag.startsWith('"'),
    isKnown: unchanged === undefined,
    changed: updated.plant.name,
    replaced: replaced.plant.name,
    counts,
    ids,
  }
}

async function createPlant({ url, token }: Access): Promise<Partial<Error>> {
  const plant = { id: 100n, name: 'Abies alba Mill.' }
  const call = plantStore.createClient({ url, token, retries: 0 }).createPlant(plant)
  return call.then(
    () => ({}),
    ({ name, message }) => ({ name, message }),
  )
}
