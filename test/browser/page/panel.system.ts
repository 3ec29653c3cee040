/** The side panel of the page, which leaves the table in use, and how much of the table is in view. */

import t, { type Test } from 'tap'
import { createClient } from '../../../client/client.ts'
import { nursery } from '../../helpers/plants/nursery.ts'
import { type Service, startService } from '../../helpers/service/service.ts'
import {
  CALM,
  type Person,
  PHONE,
  type PlantsPage,
  problemsOf,
  testInBrowser,
} from '../plants-page.ts'

const LAPTOP = { viewport: { width: 1024, height: 700 }, ...CALM }

/** The highest a phone's first row can begin, in pixels. */
const TOP_MAX = 140

testInBrowser(t, 'the panel and the table', (open) => {
  let service: Service
  t.before(async () => {
    service = await startService(t, { fields: nursery })
    const plants = Array.from({ length: 40 }, (_, index) => ({
      id: BigInt(index + 1),
      name: `Abies ${index + 1}`,
      tag: 'Tree',
      light: 'sun',
    }))
    await createClient(service).createPlants(plants)
  })

  const begin = async (t: Test, person: Person) => {
    const plants = await open(t, service.url, { ...person, token: service.token })
    await plants.row(1n).waitFor()
    return plants
  }
  const panelOf = ({ page }: PlantsPage, id: bigint) =>
    page.getByRole('complementary').getByRole('form', { name: `Edit plant ${id}` })
  const focused = ({ page }: PlantsPage, id: bigint) =>
    page.locator(`.plant-row[data-id="${id}"]:focus`).waitFor()

  t.test('an editor that could not be loaded is loaded again', async (t) => {
    const plants = await open(t, service.url, LAPTOP)
    const { page } = plants
    const parts = '**/page/lazy-parts-*'
    await page.route(parts, (route) => route.abort())
    await plants.signIn(service.token)
    await plants.button('Edit Abies 2').click()
    await plants.shows('The service could not be reached')
    await page.unroute(parts)
    await plants.button('Try again').click()
    await panelOf(plants, 2n).waitFor()
  })

  for (const [device, person] of Object.entries({ 'a laptop': LAPTOP, 'a phone': PHONE })) {
    t.test(`the table stays in use while a plant is edited on ${device}`, async (t) => {
      const plants = await begin(t, { ...person, ...CALM })
      const { page } = plants
      const before = await plants.row(2n).boundingBox()
      await plants.button('Edit Abies 2').click()
      await panelOf(plants, 2n).waitFor()
      await page.locator('.panel textarea:focus').waitFor()
      t.equal((await plants.row(2n).boundingBox())?.y, before?.y, 'no row moves')
      t.same(await problemsOf(page), [])
      await plants.button('Edit Abies 3').click()
      await panelOf(plants, 3n).waitFor()
      t.equal(await page.locator('.panel').count(), 1)
      t.equal(await page.locator('.tray').count(), 0, 'nothing was typed')
      await page.locator('.panel textarea:focus').waitFor()
      await page.keyboard.press('Escape')
      await page.locator('.panel').waitFor({ state: 'detached' })
      await focused(plants, 3n)

      await plants.edit('Abies 2', { name: 'Abies alba' })
      await plants.button('Edit Abies 3').click()
      await plants.shows('1 change is not saved')
      await plants.row(2n).getByText('not saved').waitFor()
      await plants.type({ name: 'Abies nigra' })
      await plants.button('Save').click()
      await focused(plants, 3n)
      await plants.button('Undo').click()
      await plants.row(3n).getByText('Abies 3').waitFor()
      await plants.button('Discard').click()
      await page.locator('.tray').waitFor({ state: 'detached' })
      t.same(plants.complaints, [])
    })
  }

  t.test('the name of a plant is beside its actions wherever the table is scrolled', async (t) => {
    const plants = await begin(t, LAPTOP)
    const { page } = plants
    for (const isOpen of [false, true]) {
      if (isOpen) await plants.button('Edit Abies 1').click()
      await page.locator('.table').evaluate((table) => {
        table.scrollLeft = 1e6
      })
      const left = await page.locator('.table').evaluate(({ scrollLeft }) => scrollLeft)
      t.ok(left > 0, 'the columns do not fit')
      await plants.row(2n).locator('.name').hover()
      const [name, button] = await Promise.all([
        plants.row(2n).locator('.name bdi').boundingBox(),
        plants.button('Delete Abies 2').boundingBox(),
      ])
      t.ok(name && button && name.x + name.width <= button.x)
      t.same(await page.evaluate(COVERED), [], 'nothing covers them')
      t.same(await problemsOf(page), [])
    }
  })

  t.test('a phone shows the first row near the top', async (t) => {
    const plants = await begin(t, PHONE)
    const row = await plants.row(1n).boundingBox()
    t.ok(row && row.y <= TOP_MAX, `it begins at ${row?.y}`)
  })
})

/** What is covered in the middle, of the second row's name and buttons. */
const COVERED = `[...document.querySelectorAll('[data-id="2"] :is(.name bdi, .action-cell button)')]
  .filter((element) => {
    const { x, y, width, height } = element.getBoundingClientRect()
    return !element.contains(document.elementFromPoint(x + width / 2, y + height / 2))
  })
  .map(({ outerHTML }) => outerHTML.slice(0, 100))`
