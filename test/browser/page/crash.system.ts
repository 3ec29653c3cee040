/** What the page keeps in the browser: it survives a crash or a reload of the tab, and ends with the session. */

import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { importPlants } from '../../helpers/plants/import-plants.ts'
import { until } from '../../helpers/processes/until.ts'
import { type Service, startService } from '../../helpers/service/service.ts'
import { messageOf, type PlantsPage, testInBrowser } from '../plants-page.ts'

/** All values in the databases of the page, as text. */
const KEPT = `(async () => {
  const promise = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
  const values = []
  for (const { name } of await indexedDB.databases()) {
    const database = await promise(indexedDB.open(name))
    for (const store of database.objectStoreNames) {
      values.push(...await promise(database.transaction(store).objectStore(store).getAll()))
    }
    database.close()
  }
  return values.map(String)
})()`

const keptIn = (page: Page) => page.evaluate<readonly string[]>(KEPT)

/** Resolves once the browser has stored text that was typed. */
const isKept = ({ page }: PlantsPage, text: string) =>
  until(`${text} is kept`, async () => (await keptIn(page)).some((value) => value.includes(text)))

const nameField = ({ page }: PlantsPage) =>
  page.locator('form.editor').getByLabel('Name', { exact: true })

testInBrowser(t, 'the tab keeps what is not saved, and what takes changes back', (open) => {
  let service: Service
  t.beforeEach(async (t) => {
    service = await startService(t)
    const stored = ['Abies', 'Acer', 'Aconitum'].map((name, index) => ({
      id: BigInt(index + 1),
      name,
      tag: 'Tree',
    }))
    await importPlants(service.store, stored, 'stop')
  })

  async function begin(t: Test): Promise<PlantsPage> {
    const plants = await open(t, service.url, { token: service.token })
    await plants.rows('Abies').waitFor()
    return plants
  }

  t.test('a duplicated tab has an undo of its own', async (t) => {
    const plants = await begin(t)
    await plants.button('Delete Acer').click()
    await plants.button('Undo').waitFor()
    const duplicate = await plants.duplicate()
    await duplicate.rows('Abies').waitFor()
    t.equal(await messageOf(duplicate).count(), 0)
    await duplicate.button('Delete Abies').click()
    await duplicate.button('Undo').waitFor()
    await plants.button('Undo').click()
    await plants.rows('Acer').waitFor()
    t.equal(await service.stored(1n), undefined)
    await duplicate.page.reload()
    await duplicate.button('Undo').click()
    await duplicate.rows('Abies').waitFor()
  })

  t.test('after a crash', async (t) => {
    const crashing = await begin(t)
    await crashing.button('Delete Acer').click()
    await crashing.button('Undo').waitFor()
    await crashing.edit('Aconitum', { name: 'typed earlier' })
    await crashing.edit('Abies', { name: 'typed last', tag: 'Shrub' })
    await isKept(crashing, 'typed last')
    const plants = await crashing.crash()
    await nameField(plants).waitFor()
    t.equal(await nameField(plants).inputValue(), 'typed last')
    await plants.shows('1 change is not saved')
    t.equal(await messageOf(plants).getByRole('status').innerText(), 'Deleted Acer')
    await plants.button('Undo').click()
    await plants.rows('Acer').waitFor()
    t.match(await service.stored(2n), { name: 'Acer', tag: 'Tree' })
    await nameField(plants).press('Enter')
    await plants.rows('typed last').waitFor()
    t.match(await service.stored(1n), { name: 'typed last', tag: 'Shrub' })
    await plants.button('Continue').click()
    t.equal(await nameField(plants).inputValue(), 'typed earlier')
    t.same(plants.complaints, [])
  })

  t.test('but not a change that was saved while the tab crashed', async (t) => {
    const crashing = await begin(t)
    const saved = Promise.withResolvers<void>()
    await crashing.page.route('**/plants', async (route) => {
      if (route.request().method() !== 'PATCH') return route.continue()
      // The page does not get the response.
      await route.fetch()
      saved.resolve()
    })
    await crashing.edit('Abies', { name: 'Abies alba' })
    await crashing.button('Save').click()
    await saved.promise
    await isKept(crashing, 'sending')
    const plants = await crashing.crash()
    await plants.rows('Abies alba').waitFor()
    await plants.page.locator('form.editor, .tray').waitFor({ state: 'detached' })
    // Only when the tab was used, and by whom.
    await until('nothing is kept', async () => (await keptIn(plants.page)).length < 3)
    t.same(plants.complaints, [])
  })

  t.test('apart from those of other tabs', async (t) => {
    const plants = await begin(t)
    await plants.button('Delete Acer').click()
    await plants.button('Undo').waitFor()
    await plants.edit('Abies', { name: 'typed' })
    const other = await plants.openTab()
    await other.signIn(await service.issueToken('other', ['read', 'write']))
    await other.rows('Abies').waitFor()
    t.equal(await other.page.locator('form.editor, .tray, .latest').count(), 0)
    await other.button('Delete Aconitum').click()
    await other.button('Undo').waitFor()
    await other.page.reload()
    t.equal(await messageOf(other).getByRole('status').innerText(), 'Deleted Aconitum')
    await plants.page.reload()
    t.equal(await nameField(plants).inputValue(), 'typed')
    t.equal(await messageOf(plants).getByRole('status').innerText(), 'Deleted Acer')
    plants.page.once('dialog', (dialog) => dialog.accept())
    await plants.button('Sign out').click()
    await until('nothing is kept', async () => (await keptIn(plants.page)).length === 0)
    await other.button('Undo').click()
    await messageOf(other).waitFor({ state: 'detached' })
    t.equal(await service.stored(3n), undefined, 'signing out deletes what all tabs keep')
    t.same([...plants.complaints, ...other.complaints], [])
  })

  t.test('in memory if the storage cannot be opened', async (t) => {
    const plants = await open(t, service.url)
    await plants.page.addInitScript(`IDBFactory.prototype.open = () => {
        throw new DOMException('', 'UnknownError')
      }`)
    await plants.page.reload()
    await plants.signIn(service.token)
    await plants.button('Delete Acer').click()
    await plants.button('Undo').waitFor()
    await plants.edit('Abies', { name: 'typed' })
    await plants.button('Undo').click()
    await plants.rows('Acer').waitFor()
    t.equal(await nameField(plants).inputValue(), 'typed')
    const question = plants.page.waitForEvent('dialog')
    const left = plants.page.goto('about:blank').catch(() => {})
    t.equal((await question).type(), 'beforeunload')
    await (await question).dismiss()
    await left
    await plants.button('Save').click()
    await plants.rows('typed').waitFor()
    t.same(plants.complaints, [])
  })
})
