/** Takes the README's screenshots of the page and the docs. Needs Chromium. */
import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright-core'
import { startPlantStore } from '../src/index.ts'
import { findBrowser, launch } from '../tools/browser/chromium.ts'
import { DocsPage } from '../tools/browser/docs-page.ts'

const PLANTS = fileURLToPath(new URL('../data/sample.csv', import.meta.url))

const program = findBrowser()
if (program === undefined)
  throw new Error('there is no Chromium; the variable CHROMIUM may name one')

await using store = await startPlantStore({ seed: PLANTS })
await using browser = await launch(program)
await takePage(browser)
await takeDocs(browser)

async function takePage(browser: Browser): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 1060, height: 640 } })
  await page.goto(store.url)
  await page.getByLabel('Token', { exact: true }).fill(store.token)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('Abies alba').first().waitFor()
  // The token of a store in memory has the name of a variable.
  await page.getByText('PLANT_STORE_TOKEN').evaluate((name) => {
    name.textContent = 'ada'
  })
  await page.screenshot({ path: pathOf('page.png') })
}

async function takeDocs(browser: Browser): Promise<void> {
  const docs = await DocsPage.open(browser, `${store.url}/documentation`, {
    viewport: { width: 1060, height: 1095 },
  })
  // The port differs each time, and must not change the picture.
  await docs.page.evaluate(
    `document.querySelector('.info .url').textContent = '/documentation/json'`,
  )
  await docs.page.screenshot({ path: pathOf('documentation.png') })
}

function pathOf(picture: string): string {
  return fileURLToPath(new URL(`../docs/${picture}`, import.meta.url))
}
