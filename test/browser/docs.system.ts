/** The docs in a real browser, used as readers use them. */
import t, { type Test } from 'tap'
import { DocsPage, type Shown } from '../../tools/browser/docs-reader.ts'
import type { Viewer } from '../../tools/browser/visit.ts'
import { nursery } from '../helpers/plants/nursery.ts'
import { contract, operations } from '../helpers/service/contract-check.ts'
import { type Call, type Service, startService } from '../helpers/service/service.ts'
import { tabTo } from './keyboard.ts'
import { findIllegible } from './legibility.ts'
import { CALM, PHONE, testInBrowser } from './plants-page.ts'
import { startProxy } from './prefix-proxy.ts'

const DESKTOP = { viewport: { width: 1280, height: 800 } }

testInBrowser(t, 'the docs work', (_open, browser) => {
  let service: Service
  /** The operations whose form was executed. */
  const tried = new Set<string>()
  t.before(async () => {
    service = await startService(t)
  })

  /** Opens the docs with an empty profile, and fails the test on any problem that a reader would not see. */
  async function visit(t: Test, url: string, viewer: Viewer, read: (docs: DocsPage) => unknown) {
    const docs = await DocsPage.open(browser(), `${url}/documentation`, viewer)
    t.teardown(() => docs.close())
    await read(docs)
    t.same(docs.complaints, [])
  }

  // One page for all of these, because opening another takes more than a second.
  t.test('the docs work on a desktop', (t) =>
    visit(t, service.url, { colorScheme: 'light', ...CALM, ...DESKTOP }, async (docs) => {
      t.equal(docs.page.url(), `${service.url}/documentation`)
      await assertAuthorizeInView(t, docs)
      await t.test('the docs can be used with the keyboard alone', (t) => useTheKeyboard(t, docs))
      await docs.reload()
      await t.test('the pre-filled forms work with the token from the last visit', (t) =>
        tryEveryForm(t, docs),
      )
      await t.test('the webhooks are shown in one section, and cannot be sent', async (t) => {
        const webhooks = docs.page.locator('.webhooks')
        const headings = docs.page.locator('h2:visible, h3:visible', { hasText: /^webhooks/i })
        t.equal(await headings.count(), 1)
        t.equal(await webhooks.locator('input:visible').count(), 0)
        for (const name of Object.keys(contract.webhooks)) {
          const block = webhooks.locator(`[id$="-${name}"]`)
          await block.locator('.opblock-summary-control').click()
          await block.locator('.responses-table').last().waitFor()
          t.match(await block.innerText(), 'webhook-signature')
          t.equal(await block.locator('.execute').count(), 0)
          await assertLegible(t, docs, `.webhooks [id$="-${name}"]`)
          await block.locator('.opblock-summary-control').click()
        }
      })
      await t.test('the rest of the page is legible', async (t) => {
        await docs.page.locator('.models-control').click()
        const models = await docs.page.locator('.models').innerText()
        t.match(models, 'NewPlant')
        t.notMatch(models, 'matches ^')
        await assertLegible(t, docs, '#swagger-ui')
        await docs.page.locator('.auth-wrapper > .authorize').click()
        await assertLegible(t, docs, '.modal-ux')
      })
    }),
  )

  t.test('the docs have forms for filters by own fields', async (t) => {
    const odd = { name: 'Höhe a&b=/+', schema: { type: 'integer', format: 'int32' } } as const
    const own = await startService(t, { fields: [...nursery, odd] })
    await visit(t, own.url, { ...CALM, ...DESKTOP }, async (docs) => {
      await docs.authorize(own.token)
      await docs.toggle('listPlants')
      await docs.ready('listPlants')
      const row = (name: string) =>
        docs.operation('listPlants').locator(`tr[data-param-name="${name}"]`)
      t.match(await row('is.light').innerText(), '1 to 200 items (string)')
      t.match(await row('min.height').innerText(), 'Height in cm')
      for (const [name, value] of [
        ['is.height', '7'],
        ['is.watered', '2026-11-25T23:40:00+01:00'],
        ['is.photo', 'https://example.com/'],
      ] as const) {
        await row(name).locator('.json-schema-form-item-add').click()
        await row(name).locator('input').fill(value)
      }
      await row('is.inStock').locator('.json-schema-form-item-add').click()
      await row('is.inStock').locator('select').selectOption('false')
      await row('is.light').locator('select').selectOption(['sun', 'half shade'])
      await row('without.note').locator('select').selectOption('true')
      const { status, curl } = await docs.execute('listPlants', { [`min.${odd.name}`]: '5' })
      t.equal(status, '200')
      const [, search] = /\?(.*)'/.exec(curl) ?? []
      t.strictSame(
        [...new URLSearchParams(search)],
        [
          ['limit', '100'],
          ['is.height', '7'],
          ['is.light', 'sun'],
          ['is.light', 'half shade'],
          ['is.photo', 'https://example.com/'],
          ['is.inStock', 'false'],
          ['is.watered', '2026-11-25T23:40:00+01:00'],
          ['without.note', 'true'],
          [`min.${odd.name}`, '5'],
        ],
      )
    })
  })

  async function useTheKeyboard(t: Test, docs: DocsPage): Promise<void> {
    const { page } = docs
    const unseen: string[] = []
    const press = async (selector: string) => {
      unseen.push(...(await tabTo(page, selector)))
      await page.keyboard.press('Enter')
    }
    await press('.auth-wrapper > .authorize')
    await page.locator('.modal-ux input:focus').waitFor()
    await page.keyboard.type(`Bearer ${service.token}`)
    await page.keyboard.press('Enter')
    await press('.modal-ux .btn-done')
    await press('[id$="-listPlants"] .opblock-summary-control')
    await docs.ready('listPlants')
    await press('[id$="-listPlants"] .execute')
    t.equal((await docs.shown('listPlants')).status, '200')
    t.same(unseen, [], 'the focus is always visible')
  }

  async function tryEveryForm(t: Test, docs: DocsPage): Promise<void> {
    // No JavaScript number is equal to it.
    const id = 2n ** 53n + 1n
    const [plant, body] = ['"name": "Abies amabilis"', `{"id": ${id}, "name": "Abies amabilis"}`]

    const created = await tryForm(t, docs, 'createPlant')
    t.strictSame(JSON.parse(created.body), { name: 'Abies alba Mill.', tag: 'Tree' })
    const { curl } = await docs.execute('createPlant', { body })
    t.match(curl, `-d '${body}'`)
    t.match(await service.stored(id), { id, name: 'Abies amabilis' })
    await docs.toggle('createPlant')

    const batch = await tryForm(t, docs, 'createPlants')
    t.strictSame(JSON.parse(batch.body), { created: 0, replayed: 2 })
    await docs.toggle('createPlants')

    const changedMany = await tryForm(t, docs, 'changePlants')
    t.match(changedMany.curl, "-X 'PATCH'")
    t.strictSame(JSON.parse(changedMany.body), { created: 0, changed: 0, removed: 0, unchanged: 3 })
    t.match(await service.stored(49n), { tag: 'Forb/herb' }, 'the last example was sent')
    await docs.toggle('changePlants')

    const listed = await tryForm(t, docs, 'listPlants')
    t.match(listed.body, `"id": ${id},\n    ${plant}\n`)
    const onwards = await docs.execute('listPlants', { after: String(id - 1n) })
    t.match(onwards.curl, `&after=${id - 1n}'`)
    t.match(JSON.parse(onwards.body), [{ name: 'Abies amabilis' }])
    await docs.toggle('listPlants')

    const { body: tags } = await tryForm(t, docs, 'listTags')
    t.strictSame(JSON.parse(tags), ['Forb/herb', 'Tree'])
    await docs.toggle('listTags')

    const { body: token } = await tryForm(t, docs, 'getToken')
    t.match(JSON.parse(token), { scopes: ['read', 'write'] })
    await docs.toggle('getToken')

    const { headers } = await tryForm(t, docs, 'getPlant')
    const [, etag = ''] = /^ *etag: (".+")/m.exec(headers) ?? []
    const fetched = await docs.execute('getPlant', { id: String(id) })
    t.match(fetched.curl, `/plants/${id}'`)
    t.equal(fetched.body, `{\n  "id": ${id},\n  ${plant}\n}`)
    await docs.toggle('getPlant')

    const changed = await tryForm(t, docs, 'updatePlant', { 'If-Match': etag })
    t.match(changed.curl, `-H 'If-Match: ${etag}'`)
    t.match(await service.stored(4n), { tag: null }, 'the last example was sent')
    await docs.toggle('updatePlant')

    await tryForm(t, docs, 'replacePlant')
    t.match(await service.stored(4n), { tag: 'Tree' })
    await docs.toggle('replacePlant')

    const changes = await tryForm(t, docs, 'listChanges', { after: 'latest' })
    t.equal(changes.body, '[]')
    t.match(changes.headers, /^ *link: .*after=/m)
    await docs.toggle('listChanges')

    const deleted = await tryForm(t, docs, 'deletePlant')
    t.strictSame([deleted.status, deleted.body], ['204', ''])
    t.equal(await service.stored(4n), undefined)

    for (const { operationId = '' } of operations()) {
      t.ok(tried.has(operationId), `add tryForm(t, docs, '${operationId}') to tryEveryForm`)
    }
  }

  /** Executes a pre-filled form, then one with each other example, and checks that all of it is legible. */
  async function tryForm(
    t: Test,
    docs: DocsPage,
    operationId: string,
    fields: Record<string, string> = {},
  ): Promise<Shown> {
    tried.add(operationId)
    const shown = await docs.execute(operationId, fields)
    t.match(shown.status, /^20[04]$/, operationId)
    await assertLegible(t, docs, `[id$="-${operationId}"]`)
    for (const example of (await docs.examples(operationId)).slice(1)) {
      const body = await docs.choose(operationId, example)
      t.match(await service.call(callOf(operationId, body)), { status: 200 }, example)
    }
    return shown
  }

  /** In light mode on a desktop and in dark mode on a phone. */
  async function assertLegible(t: Test, { page }: DocsPage, selector: string): Promise<void> {
    const desk = page.viewportSize() as { width: number; height: number }
    t.same(await findIllegible(page, selector), [])
    await page.locator('.dark-mode-toggle button').dispatchEvent('click')
    await page.setViewportSize(PHONE.viewport)
    t.same(await findIllegible(page, selector), [])
    await page.locator('.dark-mode-toggle button').dispatchEvent('click')
    await page.setViewportSize(desk)
  }

  t.test(
    'the docs work on a phone in dark mode, behind a proxy that strips a prefix',
    async (t) => {
      const url = await startProxy(t, service.port, '/some/prefix')
      for (const id of [6, 7]) await service.call({ body: { id, name: 'Abies', tag: 'phone' } })
      await visit(t, url, { colorScheme: 'dark', ...CALM, ...PHONE }, async (docs) => {
        t.equal(docs.page.url(), `${url}/documentation`)
        t.equal(await docs.page.evaluate('innerWidth'), PHONE.viewport.width)
        await assertAuthorizeInView(t, docs)
        const refused = await docs.execute('listPlants', { limit: '1', tag: 'phone' })
        t.equal(refused.status, '401')
        t.match(JSON.parse(refused.body), { error: 40101 })
        t.match(refused.headers, 'www-authenticate: Bearer')
        t.same(await coveringButtons(docs), [], 'no button covers a short response')
        await docs.authorize(service.token)
        const listed = await docs.execute('listPlants')
        t.match(listed.curl, `'${url}/plants?limit=1&tag=phone'`)
        t.strictSame(JSON.parse(listed.body), [{ id: 6, name: 'Abies', tag: 'phone' }])
        t.match(listed.headers, 'link: <?limit=1&tag=phone&after=6>; rel="next"')
        t.same(await findIllegible(docs.page, '#swagger-ui'), [])
      })
    },
  )
})

/** Asserts that a reader sees the button before scrolling. */
async function assertAuthorizeInView(t: Test, { page }: DocsPage): Promise<void> {
  const box = await page.locator('.auth-wrapper > .authorize').boundingBox()
  const { height } = page.viewportSize() as { height: number }
  t.ok(box !== null && box.y > 0 && box.y + box.height <= height, 'Authorize is in view')
}

/** The buttons that overlap the text of the latest response of `listPlants`. */
async function coveringButtons(docs: DocsPage): Promise<string[]> {
  const response = docs.operation('listPlants').locator('.live-responses-table .highlight-code')
  // `code` has the height of its lines. The element `pre` around it includes the padding.
  const text = await response.locator('code').boundingBox()
  const found: string[] = []
  for (const button of await response.locator('button').all()) {
    const box = await button.boundingBox()
    if (text === null || box === null || box.y < text.y + text.height) {
      found.push(await button.innerText())
    }
  }
  return found
}

/** The request that an operation's examples are for. */
function callOf(operationId: string, body: string): Call {
  if (operationId === 'createPlant') return { body }
  return { method: 'PATCH', path: operationId === 'changePlants' ? '/plants' : '/plants/4', body }
}
