/** The page with a keyboard, a screen reader, on a phone and in dark mode. */

import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { importPlants } from '../../helpers/plants/import-plants.ts'
import { type Service, startService } from '../../helpers/service/service.ts'
import { tabTo } from '../keyboard.ts'
import {
  beginCondition,
  CALM,
  PHONE,
  type PlantsPage,
  problemsOf,
  testInBrowser,
} from '../plants-page.ts'
import { startNetwork } from '../unreliable-network.ts'

testInBrowser(t, 'everybody can use the page', (open) => {
  let service: Service
  t.beforeEach(async (t) => {
    service = await startService(t)
    const plants = Array.from({ length: 300 }, (_, index) => ({
      id: BigInt(index + 1),
      name: `Abies ${index + 1} ${'with a very long name '.repeat(index % 4)}`,
      ...(index % 2 === 0 && { tag: `Tree ${'of a kind '.repeat(index % 8)}` }),
    }))
    await importPlants(service.store, plants, 'stop')
  })

  for (const [device, reader] of Object.entries({ 'a desktop': {}, 'a phone': PHONE })) {
    t.test(`axe finds nothing on ${device}, and nothing is wider than the screen`, async (t) => {
      const network = await startNetwork(t, service.port)
      const plants = await open(t, network.url, { ...reader, ...CALM })
      const { page } = plants
      await assertAccessible(t, page, 'the token form')
      await plants.signIn(service.token)
      await plants.row(5n).waitFor()
      await assertAccessible(t, page, 'the table')

      await service.call({ method: 'DELETE', path: '/plants/3' })
      await plants.row(3n).getByText('deleted').waitFor()
      await assertAccessible(t, page, 'a mark')

      await plants.button('More').click()
      await plants.button('Export…').waitFor()
      await assertAccessible(t, page, 'the menu')
      await page.keyboard.press('Escape')
      await beginCondition(plants, 'has no value')
      await assertAccessible(t, page, 'a condition')
      await plants.button('Add').click()
      await plants.row(1n).waitFor({ state: 'detached' })
      await page.getByRole('searchbox').fill('10')
      await plants.row(2n).waitFor({ state: 'detached' })
      await plants.button('Go to id 10').waitFor()
      await assertAccessible(t, page, 'filters')
      await page.evaluate('location.hash = "#untagged=true&q=10&from=3"')
      await plants.shows('No plant that matches has the id 3.')
      await assertAccessible(t, page, 'another start')
      await plants.button('Show all plants').click()
      await plants.row(5n).waitFor()

      await plants.row(2n).getByRole('button', { name: /^Edit/ }).click()
      await plants.type({ name: `mine ${'x'.repeat(200)}` })
      await assertAccessible(t, page, 'the open panel')
      await service.call({ method: 'PUT', path: '/plants/2', body: { name: 'theirs' } })
      await plants.shows('Somebody has changed plant 2.')
      await assertAccessible(t, page, 'a conflict')

      await plants.button('Add plant').click()
      await plants.type({ name: 'Acer' })
      await assertAccessible(t, page, 'a plant to add, and a draft')
      await plants.button('Save').click()
      const link = page.getByRole('link', { name: 'Show it' })
      await link.waitFor()
      await assertAccessible(t, page, 'a plant that was added')
      await link.click()
      await assertFocus(plants, 301n)
      await plants
        .row(298n)
        .getByRole('button', { name: /^Delete/ })
        .click()
      await plants.button('Undo').waitFor()
      await assertAccessible(t, page, 'undo')

      network.disconnect()
      await plants.shows('Connection lost.')
      await plants
        .row(296n)
        .getByRole('button', { name: /^Delete/ })
        .click()
      await plants.shows('The service could not be reached.')
      await assertAccessible(t, page, 'a lost connection')
    })
  }

  t.test('the page can be used with the keyboard alone', async (t) => {
    const plants = await open(t, service.url)
    const { page } = plants
    const { keyboard } = page
    await page.locator('[name=token]:focus').waitFor()
    await keyboard.type(service.token)
    await keyboard.press('Enter')
    await assertFocus(plants, 1n)
    const unseen = await tabTo(page, '[type=search]', 'Shift+Tab')
    unseen.push(...(await tabTo(page, '.plant-row')))
    await assertFocus(plants, 1n)
    await keyboard.press('ArrowDown')
    await assertFocus(plants, 2n)
    await keyboard.press('PageDown')
    await keyboard.press('PageUp')
    await assertFocus(plants, 2n)
    await keyboard.press('End')
    await assertFocus(plants, 300n)
    await keyboard.press('Home')
    await assertFocus(plants, 1n)
    await keyboard.press('ArrowDown')

    await keyboard.press('Enter')
    await page.locator('textarea:focus').waitFor()
    await keyboard.press('ControlOrMeta+A')
    await keyboard.type('Abies alba')
    await keyboard.press('Enter')
    await plants.rows('Abies alba').waitFor()
    await assertFocus(plants, 2n)

    await keyboard.down('Delete')
    await plants.button('Undo').waitFor()
    await assertFocus(plants, 3n)
    await keyboard.down('Delete')
    await keyboard.up('Delete')
    t.ok(await plants.row(3n).isVisible(), 'a key that is held down deletes one plant')
    // Somebody else deletes the plant that has the focus.
    await service.call({ method: 'DELETE', path: '/plants/3' })
    await plants.row(3n).waitFor({ state: 'detached' })
    await assertFocus(plants, 4n)

    unseen.push(...(await tabTo(page, '.latest button')))
    await keyboard.press('Enter')
    await plants.row(2n).waitFor()
    await assertFocus(plants, 2n)

    // Every row can be reached, also while rows above it change.
    for (const name of ['Select', 'Edit', 'Delete']) {
      await keyboard.press('Tab')
      t.equal(await page.evaluate(FOCUSED), `${name} Abies alba`)
    }
    await keyboard.press('Enter')
    await plants.row(2n).waitFor({ state: 'detached' })
    await assertFocus(plants, 4n)
    t.same(unseen, [], 'the focus is always visible')
    t.same(plants.complaints, [])
  })

  t.test('what is cut, and what has only an icon, has a tooltip', async (t) => {
    const viewport = { width: 700, height: 800 }
    const plants = await open(t, service.url, { token: service.token, viewport })
    const name = plants.row(4n).locator('.name')
    await name.hover()
    t.match(await name.getAttribute('title'), /^Abies 4 (with a very long name ){2}/)
    await plants.row(1n).locator('.name').hover()
    t.notOk(await plants.row(1n).locator('.name').getAttribute('title'), 'it is not cut')
    const icons = plants.row(1n).getByRole('button')
    t.same(await Promise.all((await icons.all()).map((icon) => icon.getAttribute('title'))), [
      'Show the plants with this tag',
      'Edit',
      'Delete',
    ])
  })

  t.test('forced colors show whether changes by others appear', async (t) => {
    const plants = await open(t, service.url, { token: service.token, forcedColors: 'active' })
    await plants.page.getByText('Live', { exact: true }).waitFor()
    const [dot, ground] = await plants.page.evaluate<string[]>(`[
      getComputedStyle(document.querySelector('.feed-state'), '::before').borderTopColor,
      getComputedStyle(document.body).backgroundColor,
    ]`)
    t.not(dot, ground)
  })

  t.test('the focus survives while the table scrolls', async (t) => {
    const plants = await open(t, service.url, { token: service.token })
    await plants.row(1n).waitFor()
    await plants.row(1n).focus()
    await plants.page.locator('.table').evaluate((element) => element.scrollTo(0, 7380))
    await plants.row(210n).waitFor()
    await assertFocus(plants, 1n)
    await plants.page.keyboard.press('ArrowDown')
    await assertFocus(plants, 2n)
    await plants.page.keyboard.press('Enter')
    await plants.type({ name: 'typed' })
    await plants.page.locator('.table').evaluate((element) => element.scrollTo(0, 7380))
    await plants.row(210n).waitFor()
    t.equal(await plants.page.locator('textarea:focus').inputValue(), 'typed')
    await plants.page.keyboard.press('Escape')
    await plants.shows('1 change is not saved')
    await assertFocus(plants, 2n)
  })

  t.test('nothing takes the focus from a person who types', async (t) => {
    const plants = await open(t, service.url, { token: service.token })
    const { page } = plants
    const search = page.getByRole('searchbox')
    await plants.row(2n).getByRole('button', { name: /^Edit/ }).click()
    await page.locator('textarea:focus').waitFor()
    await search.click()
    await page.keyboard.type('Abies 29')
    await plants.shows(/^13 plants$/)
    await page.locator('.panel textarea').waitFor()
    await page.keyboard.type('9')
    await plants.shows(/^1 plant$/)
    t.equal(await search.inputValue(), 'Abies 299')
    t.match(await page.locator('.panel textarea').inputValue(), /^Abies 2 /)
    await page.keyboard.type('0')
    await plants.shows('No plant matches')
    await search.fill('')
    await plants.row(2n).waitFor()
    t.ok(await page.locator('.panel textarea').isVisible())
    await page.locator('input[type=search]:focus').waitFor()
    t.same(plants.complaints, [])
  })

  t.test('a screen reader is told what happens', async (t) => {
    const plants = await open(t, service.url, { token: service.token })
    const { page } = plants
    const grid = page.getByRole('grid', { name: 'Plants' })
    await page.getByRole('row', { name: 'Abies 2' }).first().waitFor()
    // With the header.
    await grid.and(page.locator('[aria-rowcount="301"]')).waitFor()
    const heads = await page.getByRole('columnheader').allInnerTexts()
    t.same(heads.slice(1), ['Name', 'Tag', 'Id', 'Actions'])
    await page.getByRole('status').filter({ hasText: '300 plants' }).waitFor()
    await page.getByRole('searchbox', { name: 'Search names, or go to an id' }).fill('Abies 29')
    await page.getByRole('status').filter({ hasText: '13 plants' }).waitFor()
    await plants
      .row(290n)
      .getByRole('button', { name: /^Delete/ })
      .click()
    await page.getByRole('status').filter({ hasText: 'Deleted Abies 290' }).waitFor()
  })
})

async function assertFocus({ page }: PlantsPage, id: bigint): Promise<void> {
  await page.locator(`.plant-row[data-id="${id}"]:focus`).waitFor()
}

/** On a phone, only the layout differs. */
async function assertAccessible(t: Test, page: Page, what: string): Promise<void> {
  const isPhone = page.viewportSize()?.width === PHONE.viewport.width
  for (const colorScheme of isPhone ? (['dark'] as const) : (['light', 'dark'] as const)) {
    await page.emulateMedia({ colorScheme })
    t.same(await problemsOf(page), [], `${what}, ${colorScheme}`)
  }
}

const FOCUSED = `document.activeElement.getAttribute('aria-label')`
