/** How the docs help those who have a wrong token, want a stream, or want to know more. */
import t, { type Test } from 'tap'
import { DocsPage } from '../../tools/browser/docs-reader.ts'
import { type Service, startService } from '../helpers/service/service.ts'
import { findIllegible } from './legibility.ts'
import { CALM, SMALL_PHONE, testInBrowser } from './plants-page.ts'

testInBrowser(t, 'the docs help', (_open, browser) => {
  async function open(t: Test, { url }: Service): Promise<DocsPage> {
    const docs = await DocsPage.open(browser(), `${url}/documentation`, { ...SMALL_PHONE, ...CALM })
    t.teardown(() => docs.close())
    return docs
  }

  t.test('a wrong token is reported when it is entered', async (t) => {
    const issuer = { oidcIssuer: 'https://id.example/plants', oidcAudience: 'plants' }
    const service = await startService(t, { config: issuer })
    const docs = await open(t, service)
    const { page } = docs
    const dialog = page.locator('.modal-ux')
    await page.locator('.auth-wrapper > .authorize').click()
    t.match(await dialog.innerText(), /access tokens that https:\/\/id.example\/plants issues/)
    await dialog.locator('input').fill('wrong')
    await dialog.locator('button[type=submit]').click()
    const problem = dialog.getByRole('alert')
    await problem.waitFor()
    t.equal(await problem.innerText(), 'the access token is unknown, expired or revoked')
    t.same(await findIllegible(page, '.modal-ux'), [])
    await dialog.locator('input').fill(service.token)
    await dialog.locator('button[type=submit]').click()
    await dialog.getByText('Authorized', { exact: true }).waitFor()
    t.equal(await problem.count(), 0)
    await dialog.locator('.btn-done').click()
    t.equal((await docs.execute('listPlants')).status, '200')
    t.same(docs.complaints, [])
  })

  t.test('the docs show what a response leads to, and open the guides', async (t) => {
    const docs = await open(t, await startService(t))
    const { page } = docs
    await docs.toggle('createPlant')
    await docs.ready('createPlant')
    const links = docs.operation('createPlant').locator('.operation-link')
    const names = await links.locator('pre').allInnerTexts()
    for (const name of ['getPlant', 'replacePlant', 'updatePlant', 'deletePlant']) {
      t.ok(names.some((text) => text.includes(name) && text.includes('$request.body#/id')))
    }
    t.same(await findIllegible(page, '[id$="-createPlant"]'), [])
    const [guide] = await Promise.all([
      page.context().waitForEvent('page'),
      page.locator('.info').getByRole('link', { name: 'errors' }).click(),
    ])
    await guide.waitForURL(/\/documentation\/guides\/http-api#errors$/)
    await guide.getByRole('heading', { name: 'Errors', exact: true }).waitFor()
  })
})
