/** The toolbar of the page: its menu, its conditions, and the bar that replaces it while plants are selected. */

import type { Locator } from 'playwright-core'
import t, { type Test } from 'tap'
import { importPlants } from '../../helpers/plants/import-plants.ts'
import { type Service, startService } from '../../helpers/service/service.ts'
import { beginCondition, dialogOf, type Person, PHONE, testInBrowser } from '../plants-page.ts'

/** Resolves once an element has the focus. */
const focused = (locator: Locator) => locator.and(locator.page().locator(':focus')).waitFor()

testInBrowser(t, 'the toolbar', (open) => {
  let service: Service
  t.before(async () => {
    service = await startService(t)
    const plants = Array.from({ length: 30 }, (_, index) => ({
      id: BigInt(index + 1),
      name: `Abies ${index + 1}`,
      ...(index % 2 === 0 && { tag: 'Tree' }),
    }))
    await importPlants(service.store, plants, 'stop')
  })

  const begin = async (t: Test, person: Person = {}) => {
    const plants = await open(t, service.url, { ...person, token: service.token })
    await plants.row(1n).waitFor()
    return plants
  }

  for (const [device, person] of Object.entries({ 'a desktop': {}, 'a phone': PHONE })) {
    t.test(`the menu opens and closes on ${device}`, async (t) => {
      const plants = await begin(t, person)
      const { page } = plants
      const more = plants.button('More')
      const item = plants.button('Export…')
      t.equal(await item.count(), 0)
      await more.click()
      await item.waitFor()
      t.equal(await more.getAttribute('aria-expanded'), 'true')
      const box = await page.locator('.menu').boundingBox()
      const { width, height } = page.viewportSize() ?? { width: 0, height: 0 }
      t.ok(box && box.x >= 0 && box.x + box.width <= width && box.y + box.height <= height)
      await page.keyboard.press('Escape')
      await item.waitFor({ state: 'detached' })
      await focused(more)
      t.equal(await more.getAttribute('aria-expanded'), 'false')

      await page.keyboard.press('Enter')
      await page.keyboard.press('Tab')
      await focused(plants.button('Import…'))
      await page.keyboard.press('Escape')
      await focused(more)
      await more.click()
      await item.waitFor()
      await more.click()
      await item.waitFor({ state: 'detached' })
      await more.click()
      await plants.row(3n).locator('.name').click()
      await item.waitFor({ state: 'detached' })
      await plants.choose('Export…')
      await page.getByRole('dialog', { name: 'Export plants' }).waitFor()
      await page.keyboard.press('Escape')
      await focused(more)
      t.same(plants.complaints, [])
    })
  }

  t.test('a condition on the tag becomes a button, and the focus stays nearby', async (t) => {
    const plants = await begin(t)
    const { page } = plants
    const filter = plants.button('Filter…')
    await beginCondition(plants, 'is')
    await page.keyboard.press('Escape')
    await focused(filter)
    await beginCondition(plants, 'is')
    await dialogOf(plants).getByLabel('Tag', { exact: true }).fill('Tree')
    await page.keyboard.press('Enter')
    await plants.shows(/^15 plants$/)
    await focused(filter)
    await beginCondition(plants, 'has no value')
    t.equal(await dialogOf(plants).getByLabel('Tag', { exact: true }).count(), 0)
    await plants.button('Add').click()
    await plants.row(2n).waitFor()
    t.equal(await plants.row(1n).count(), 0)
    t.equal(await plants.chip('Tag is Tree').count(), 0, 'both select nothing')
    await plants.chip('No tag').click()
    await plants.shows(/^30 plants$/)
    await focused(filter)
    t.same(plants.complaints, [])
  })

  t.test('a bar replaces it while plants are selected', async (t) => {
    const plants = await begin(t)
    const { page } = plants
    const toolbar = page.getByRole('search')
    const bar = page.getByRole('region', { name: 'Selected plants' })
    const before = await plants.row(1n).boundingBox()
    await plants.row(3n).focus()
    await page.keyboard.press('Shift+Space')
    await bar.waitFor()
    t.equal(await toolbar.count(), 0)
    t.same(await plants.row(1n).boundingBox(), before, 'no row moves')
    await focused(plants.row(3n))
    await plants.button('Clear').focus()
    await page.keyboard.press('Enter')
    await toolbar.waitFor()
    t.equal(await bar.count(), 0)
    await focused(plants.row(3n))

    await page.keyboard.press('Shift+Space')
    await plants.button('Delete…').click()
    await plants.button('Delete 1 plant').click()
    await toolbar.waitFor()
    await plants.row(3n).waitFor({ state: 'detached' })
    await focused(plants.row(4n))
    t.same(plants.complaints, [])
  })
})
