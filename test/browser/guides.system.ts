/** The guides in a real browser. */
import t from 'tap'
import { visit } from '../../tools/browser/visit.ts'
import { GUIDES } from '../../tools/build/guide-pages.ts'
import { startService } from '../helpers/service/service.ts'
import { problemsOf, SMALL_PHONE, testInBrowser } from './plants-page.ts'
import { startProxy } from './prefix-proxy.ts'

/** Resolves once the focused element has scrolled. */
const SCROLLED = `new Promise((resolve) =>
  document.activeElement.addEventListener('scroll', () => resolve(), { once: true }))`

testInBrowser(t, 'the guides', (_open, browser) => {
  t.test('people find and read the guides on a small phone, behind a proxy', async (t) => {
    const { port } = await startService(t)
    const url = await startProxy(t, port, '/some/prefix')
    const { page, complaints } = await visit(browser(), `${url}/documentation`, SMALL_PHONE)
    t.teardown(() => page.context().close())
    await page.locator('.info nav').getByRole('link', { name: 'Guides' }).click()
    const guides = page.getByRole('main').getByRole('heading', { level: 2 }).getByRole('link')
    await guides.first().waitFor()
    t.same(await problemsOf(page), [], 'the list')
    t.equal(await guides.count(), GUIDES.length)
    for (const name of GUIDES) {
      await page.locator(`a[href="${name}"]`).first().click()
      await page.waitForURL(`${url}/documentation/guides/${name}`)
      t.same(await problemsOf(page), [], name)
      // They have the same style. The width of what is in them matters on a phone.
      await page.emulateMedia({ colorScheme: name === GUIDES[0] ? 'dark' : 'light' })
      if (name === GUIDES[0]) t.same(await problemsOf(page), [], 'in dark mode')
    }
    await page.getByRole('link', { name: 'Plants' }).click()
    await page.getByLabel('Token').waitFor()
    await page.getByRole('link', { name: 'guides' }).click()
    await page.waitForURL(`${url}/documentation/guides/`)
    await page.getByRole('link', { name: 'API docs' }).click()
    await page.waitForURL(`${url}/documentation`)
    t.same(complaints, [])
  })

  t.test('wide tables and code scroll, also with the keyboard alone', async (t) => {
    const { url } = await startService(t)
    const guide = `${url}/documentation/guides/changes`
    const { page } = await visit(browser(), guide, { viewport: SMALL_PHONE.viewport })
    t.teardown(() => page.context().close())
    await page.locator('pre').first().focus()
    const scrolled = page.evaluate(SCROLLED)
    await page.keyboard.press('ArrowRight')
    await scrolled
    t.equal(await page.evaluate('scrollX'), 0)
  })
})
