/** Takes the screenshots of the page and the docs for the README and the guides. Needs Chromium. */
import { fileURLToPath } from 'node:url'
import type { Browser, Locator, Page, ViewportSize } from 'playwright-core'
import { createClient } from '../../client/client.ts'
import { type RunningPlantStore, startPlantStore } from '../../src/index.ts'
import { findBrowser, launch } from './chromium.ts'
import { DocsPage } from './docs-reader.ts'
import type { Viewer } from './visit.ts'

const PLANTS = pathOf('data/sample.csv')
const NURSERY = { contract: pathOf('data/nursery.yaml'), seed: pathOf('data/nursery.csv') }

const WIDE = { width: 1060, height: 520 }
/** Fits the form with own fields. */
const TALL = { width: 1060, height: 640 }
/** Fits the largest dialog. */
const NARROW = { width: 700, height: 900 }

/** A new plant, one that would change, and one that would be refused. */
const IMPORT = `id,name,tag
50,Abies balsamea (L.) Mill.,Tree
49,Abelmoschus manihot (L.) Medik.,Forb/herb
P-7,Acer rubrum L.,Tree
`

/** What the pictures of one color scheme are taken of. */
interface Studio {
  readonly browser: Browser
  readonly colorScheme: 'light' | 'dark'
  readonly store: RunningPlantStore
  readonly nursery: RunningPlantStore
}

const program = findBrowser()
if (program === undefined)
  throw new Error('there is no Chromium; the variable CHROMIUM may name one')

// Drawing only what has changed can round corners differently each time.
await using browser = await launch(program, '--disable-partial-raster')
for (const colorScheme of ['light', 'dark'] as const) {
  await using store = await startPlantStore({ seed: PLANTS })
  await using nursery = await startPlantStore(NURSERY)
  const studio = { browser, colorScheme, store, nursery }
  await takeDocs(studio)
  await takeSignIn(studio)
  await takeTable(studio)
  await takeImport(studio)
  await takeBulkChange(studio)
  // Its guide is also served as HTML, with one picture for both schemes.
  if (colorScheme === 'light') await takeNursery(studio)
  // Last, because it changes a plant.
  await takeConflict(studio)
}

async function takeDocs(studio: Studio): Promise<void> {
  const { browser, store } = studio
  const viewer = viewerOf(studio, { width: 1060, height: 875 })
  const docs = await DocsPage.open(browser, `${store.url}/documentation`, viewer)
  // The port differs each time, and must not change the picture.
  await docs.page.evaluate(
    `document.querySelector('.info .url').textContent = '/documentation/json'`,
  )
  await save(docs.page, studio, 'documentation')
  await docs.close()
}

async function takeSignIn(studio: Studio): Promise<void> {
  await using page = await openPage(studio, studio.store, NARROW)
  await save(page.locator('.card'), studio, 'page-sign-in')
}

async function takeTable(studio: Studio): Promise<void> {
  await using page = await signIn(studio, studio.store, WIDE)
  await save(page, studio, 'page')
}

async function takeImport(studio: Studio): Promise<void> {
  await using page = await signIn(studio, studio.store, NARROW)
  await page.locator('input[type=file]').setInputFiles({
    name: 'spring.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(IMPORT),
  })
  await page.getByRole('button', { name: 'Preview' }).click()
  const preview = page.getByRole('dialog', { name: 'Preview of' })
  await preview.getByLabel('Replace the stored plant').check()
  await save(preview, studio, 'page-import')
}

/** The light of some plants is about to be changed. */
async function takeBulkChange(studio: Studio): Promise<void> {
  await using page = await signIn(studio, studio.nursery, WIDE)
  for (const id of [101, 102, 103]) {
    await page.locator(`.plant-row[data-id="${id}"]`).getByRole('checkbox').check()
  }
  await page.getByRole('button', { name: 'Change…' }).click()
  await page.getByLabel('Field').selectOption('light')
  await page.getByLabel('Light', { exact: true }).selectOption('sun')
  await save(page, studio, 'page-bulk-change')
}

/** The own fields of a nursery, one of whose plants is edited. */
async function takeNursery(studio: Studio): Promise<void> {
  await using page = await signIn(studio, studio.nursery, TALL)
  await page.getByRole('button', { name: /^Edit .*Buxus/ }).click()
  await page.getByLabel('Height in cm').waitFor()
  await save(page, studio, 'nursery')
}

/** Two people change the name of a plant, and one of them its tag. */
async function takeConflict(studio: Studio): Promise<void> {
  await using page = await signIn(studio, studio.store, NARROW)
  await page.getByRole('button', { name: /^Edit Abelmoschus/ }).click()
  await page.getByLabel('Name', { exact: true }).fill('Abelmoschus manihot (L.) Medik.')
  const theirs = { name: 'Abelmoschus manihot', tag: 'Forb/herb' }
  await createClient(studio.store).updatePlant(49n, theirs)
  await page.getByText('Somebody has changed plant 49.').waitFor()
  await save(page.locator('form.editor'), studio, 'page-conflict')
}

/** Opens the page, and waits for its form to sign in. */
async function openPage(
  studio: Studio,
  { url }: RunningPlantStore,
  viewport: ViewportSize,
): Promise<Page> {
  const page = await studio.browser.newPage(viewerOf(studio, viewport))
  await page.goto(url)
  await page.getByLabel('Token', { exact: true }).waitFor()
  return page
}

/** Opens the page, and waits for its plants. */
async function signIn(
  studio: Studio,
  store: RunningPlantStore,
  viewport: ViewportSize,
): Promise<Page> {
  const page = await openPage(studio, store, viewport)
  await page.getByLabel('Token', { exact: true }).fill(store.token)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('Abies alba').first().waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
  // The token of a store in memory has the name of a variable.
  await page.getByText('Operator').evaluate((name) => {
    name.textContent = 'ada'
  })
  // Otherwise, the pointer is on whatever is now where the button was.
  await page.mouse.move(0, 0)
  return page
}

function viewerOf({ colorScheme }: Studio, viewport: ViewportSize): Viewer {
  return { colorScheme, reducedMotion: 'reduce', viewport }
}

async function save(subject: Page | Locator, { colorScheme }: Studio, name: string): Promise<void> {
  const suffix = colorScheme === 'dark' ? '-dark' : ''
  await subject.screenshot({ path: pathOf(`docs/${name}${suffix}.png`) })
}

function pathOf(file: string): string {
  return fileURLToPath(new URL(`../../${file}`, import.meta.url))
}
