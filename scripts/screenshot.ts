/** Takes the screenshots of the page and the docs for the README and the guides. Needs Chromium. */
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { type RunningPlantStore, startPlantStore } from '../src/index.ts'
import { findBrowser, launch } from '../tools/browser/chromium.ts'
import { DocsPage } from '../tools/browser/docs-page.ts'

const PLANTS = pathOf('data/sample.csv')
const NURSERY = { contract: pathOf('data/nursery.yaml'), seed: pathOf('data/nursery.csv') }

const program = findBrowser()
if (program === undefined)
  throw new Error('there is no Chromium; the variable CHROMIUM may name one')

await using store = await startPlantStore({ seed: PLANTS })
await using nursery = await startPlantStore(NURSERY)
await using browser = await launch(program)
await takePage(browser)
await takeNursery(browser)
await takeDocs(browser)

async function takePage(browser: Browser): Promise<void> {
  const page = await openPage(browser, store)
  await page.screenshot({ path: pathOf('docs/page.png') })
}

/** The own fields of a nursery, one of whose plants is edited. */
async function takeNursery(browser: Browser): Promise<void> {
  const page = await openPage(browser, nursery)
  await page.getByRole('button', { name: /^Edit .*Buxus/ }).click()
  await page.getByLabel('Height in cm').waitFor()
  await page.screenshot({ path: pathOf('docs/nursery.png') })
}

async function openPage(browser: Browser, store: RunningPlantStore): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1060, height: 640 } })
  await page.goto(store.url)
  await page.getByLabel('Token', { exact: true }).fill(store.token)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('Abies alba').first().waitFor()
  // The token of a store in memory has the name of a variable.
  await page.getByText('PLANT_STORE_TOKEN').evaluate((name) => {
    name.textContent = 'ada'
  })
  return page
}

async function takeDocs(browser: Browser): Promise<void> {
  const docs = await DocsPage.open(browser, `${store.url}/documentation`, {
    viewport: { width: 1060, height: 1095 },
  })
  // The port differs each time, and must not change the picture.
  await docs.page.evaluate(
    `document.querySelector('.info .url').textContent = '/documentation/json'`,
  )
  await docs.page.screenshot({ path: pathOf('docs/documentation.png') })
}

function pathOf(file: string): string {
  return fileURLToPath(new URL(`../${file}`, import.meta.url))
}
