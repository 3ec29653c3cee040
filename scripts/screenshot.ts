/** Takes the README's screenshot of the docs. Needs Chromium. */
import { fileURLToPath } from 'node:url'
import { startPlantStore } from '../src/index.ts'
import { findBrowser, launch } from '../tools/browser/chromium.ts'
import { DocsPage } from '../tools/browser/docs-page.ts'

const PICTURE = fileURLToPath(new URL('../docs/documentation.png', import.meta.url))

const program = findBrowser()
if (program === undefined)
  throw new Error('there is no Chromium; the variable CHROMIUM may name one')

await using store = await startPlantStore()
await using browser = await launch(program)
const docs = await DocsPage.open(browser, store.url, { viewport: { width: 1060, height: 1095 } })
// The port differs each time, and must not change the picture.
await docs.page.evaluate(`document.querySelector('.info .url').textContent = '/documentation/json'`)
await docs.page.screenshot({ path: PICTURE })
