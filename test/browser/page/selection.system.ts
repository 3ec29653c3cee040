/** Selecting plants in the page, and what to do with them. */
import type { Locator } from 'playwright-core'
import t from 'tap'
import { importPlants } from '../../helpers/plants/import-plants.ts'
import { until } from '../../helpers/processes/until.ts'
import { type Service, startService } from '../../helpers/service/service.ts'
import { FIELDS, FIR } from '../../page/own-fields/nursery.ts'
import {
  CALM,
  dialogOf,
  messageOf,
  type PlantsPage,
  problemsOf,
  SMALL_PHONE,
  testInBrowser,
} from '../plants-page.ts'

/** More than the page keeps in memory around the rows in view. */
const COUNT = 4000

const SHIFT = { modifiers: ['Shift' as const] }

const DESK = { viewport: { width: 1400, height: 900 }, ...CALM }

const checkBox = (plants: PlantsPage, id: bigint) => plants.row(id).getByRole('checkbox')

async function selectedIds({ page }: PlantsPage): Promise<string[]> {
  const rows = page.locator('.plant-row[aria-selected=true]')
  return rows.evaluateAll((rows: { dataset: { id: string } }[]) =>
    rows.map(({ dataset }) => dataset.id),
  )
}

/** Scrolls until a row is in view. Until rows before it are loaded, the table can be too short. */
async function scrollTo(plants: PlantsPage, id: bigint): Promise<void> {
  const top = (Number(id) - 1) * 36
  await until(`plant ${id} is in view`, async () => {
    await plants.page.locator('.table').evaluate((element, top) => element.scrollTo(0, top), top)
    return plants.row(id).isVisible()
  })
}

async function hasFocus(locator: Locator): Promise<void> {
  await until('it has the focus', () =>
    locator.evaluate((element: { matches(selector: string): boolean }) =>
      element.matches(':focus'),
    ),
  )
}

testInBrowser(t, 'plants are selected', (open) => {
  let service: Service
  t.before(async () => {
    service = await startService(t)
    const plants = Array.from({ length: COUNT }, (_, index) => ({
      id: BigInt(index + 1),
      name: `${index % 100 === 99 ? 'Quercus' : 'Abies'} ${index + 1}`,
      ...(index % 2 === 0 && { tag: index % 100 === 0 ? 'Shrub' : 'Tree' }),
    }))
    await importPlants(service.store, plants, 'stop')
  })

  t.test('with the mouse, also over rows that are not in memory', async (t) => {
    const plants = await open(t, service.url, { token: service.token })
    const { page } = plants
    const all = page.getByRole('checkbox', { name: 'Select all plants' })
    await all.waitFor()
    t.equal(await page.getByRole('grid').getAttribute('aria-multiselectable'), 'true')
    t.equal(await plants.row(2n).getAttribute('aria-selected'), 'false')
    const before = await plants.row(2n).boundingBox()
    await checkBox(plants, 2n).click()
    await plants.shows(/^1 selected$/)
    t.same(await plants.row(2n).boundingBox(), before, 'no row moves')
    t.ok(await all.evaluate(IS_INDETERMINATE))
    await checkBox(plants, 5n).click(SHIFT)
    await plants.shows(/^4 selected$/)
    t.same(await selectedIds(plants), ['2', '3', '4', '5'])
    t.equal(await page.evaluate(SELECTED_TEXT), '')
    // The cell around the check box is easier to hit.
    await plants
      .row(7n)
      .locator('.select-cell')
      .click({ position: { x: 4, y: 4 } })
    await plants.shows(/^5 selected$/)
    await hasFocus(checkBox(plants, 7n))
    await checkBox(plants, 7n).dblclick()
    t.equal(await page.locator('.editor').count(), 0, 'two clicks open no editor')
    await plants.row(9n).locator('.name').click(SHIFT)
    t.equal(await page.evaluate(SELECTED_TEXT), '')
    await plants.button('Clear').click()
    await plants.shows(/^4,000 plants$/)
    t.notOk(await all.evaluate(IS_INDETERMINATE))
    await hasFocus(plants.row(7n))

    await checkBox(plants, 3n).click()
    for (let id = 201n; id < 3500n; id += 200n) await scrollTo(plants, id)
    await scrollTo(plants, 3600n)
    await checkBox(plants, 3602n).click(SHIFT)
    await plants.shows(/^3,600 selected$/)
    await scrollTo(plants, 1800n)
    await checkBox(plants, 1801n).uncheck()
    await plants.shows(/^3,599 selected$/)
    await plants.button('Delete…').click()
    await dialogOf(plants).getByRole('button', { name: 'Delete 3,599 plants' }).waitFor()
    t.same(plants.complaints, [])
  })

  t.test('with keys', async (t) => {
    const plants = await open(t, service.url, { token: service.token })
    const { keyboard } = plants.page
    await plants.row(3n).focus()
    await keyboard.press('Shift+Space')
    await keyboard.press('Shift+ArrowDown')
    await keyboard.press('Shift+ArrowDown')
    await keyboard.press('Shift+ArrowUp')
    await hasFocus(plants.row(4n))
    t.same(await selectedIds(plants), ['3', '4'])
    await keyboard.press('Tab')
    await hasFocus(checkBox(plants, 4n))
    await keyboard.press('Space')
    await plants.shows(/^1 selected$/)
    await keyboard.press('ControlOrMeta+a')
    await plants.shows(/^4,000 selected$/)
    t.ok(await plants.page.getByRole('checkbox', { name: 'Select all plants' }).isChecked())
    await plants.row(4n).focus()
    await keyboard.press('Space')
    await plants.page.locator('.editor').waitFor()
    await keyboard.press('ControlOrMeta+a')
    await keyboard.press('Escape')
    await hasFocus(plants.row(4n))
    await plants.shows(/^4,000 selected$/)
    t.same(plants.complaints, [])
  })

  t.test('all that match a filter, until the filter changes', async (t) => {
    const plants = await open(t, service.url, { token: service.token })
    const { page } = plants
    await page.getByRole('searchbox').fill('quercus')
    await plants.shows(/^40 plants$/)
    const all = page.getByRole('checkbox', { name: 'Select all plants that match' })
    await all.click()
    await plants.shows(/^40 selected$/)
    await checkBox(plants, 300n).click()
    await plants.shows(/^39 selected$/)
    await all.click()
    t.ok(await all.isChecked())
    // Another start of the same list is not another filter.
    await page.evaluate('location.hash = "#q=quercus&from=500"')
    await plants.row(300n).waitFor({ state: 'detached' })
    await plants.shows(/^40 selected$/)
    await plants.button('Show all plants').click()
    await plants.row(1n).waitFor()
    await until('nothing is selected', async () => (await selectedIds(plants)).length === 0)
    await page.goBack()
    await checkBox(plants, 500n).waitFor()
    t.same(await selectedIds(plants), [])
    t.same(plants.complaints, [])
  })
})

testInBrowser(t, 'selected plants are changed', (open) => {
  let service: Service
  t.beforeEach(async (t) => {
    service = await startService(t, { fields: FIELDS })
    const plants = Array.from({ length: 30 }, (_, index) => ({
      id: BigInt(index + 1),
      name: `Abies ${index + 1}`,
      ...(index % 2 === 0 && { tag: 'Tree' }),
    }))
    await importPlants(service.store, [{ ...FIR, id: 40n }, ...plants], 'stop')
  })

  t.test('after the person has chosen a member and a value', async (t) => {
    const plants = await open(t, service.url, { ...DESK, token: service.token })
    const dialog = dialogOf(plants)
    const field = (label: string) => dialog.getByLabel(label, { exact: true })
    await checkBox(plants, 1n).click()
    await checkBox(plants, 4n).click(SHIFT)
    await plants.button('Change…').click()
    await dialog.getByText('4 plants: Abies 1, Abies 2, Abies 3 and 1 more').waitFor()
    const member = dialog.getByRole('combobox', { name: 'Field' })
    t.equal(await member.locator('option').count(), 1 + FIELDS.length)
    const submit = dialog.getByRole('button', { name: /^Change \d+ plants?$/ })
    await submit.click()
    await dialog.getByText('Enter or choose a value, or select “No value”.').waitFor()
    await hasFocus(field('Tag'))
    await field('Tag').fill('Tree')
    await dialog.getByText('2 plants would change. 2 have this value already.').waitFor()
    t.equal(await dialog.locator('datalist option').getAttribute('value'), 'Tree')
    await member.selectOption('Height in cm')
    await field('Height in cm').fill('tall')
    await submit.click()
    await dialog.getByText('Height in cm must be a whole number, written like 4 or -12.').waitFor()
    t.same(await problemsOf(plants.page), [])
    await field('Height in cm').fill('90')
    t.equal(await dialog.locator('.problem:not(:empty)').count(), 0)
    await member.selectOption('In stock')
    await field('No value').check()
    await dialog.getByText('All of them have this value already.').waitFor()
    t.ok(await submit.isDisabled())
    await field('No value').uncheck()
    await field('In stock').selectOption('Yes')
    await submit.click()
    await messageOf(plants).getByText('Set In stock to “Yes”: 4 plants').waitFor()
    t.equal(await dialog.count(), 0, 'nothing was refused')
    await hasFocus(plants.row(4n))
    await plants.shows(/^4 selected$/)
    t.same(plants.complaints, [])
  })

  t.test('as they are when the dialog opens, by their tag too', async (t) => {
    const plants = await open(t, service.url, { ...DESK, token: service.token })
    const dialog = dialogOf(plants)
    await plants.row(1n).getByRole('button', { name: 'Tree' }).click()
    await plants.choose('Rename this tag…')
    await plants.page.getByRole('dialog', { name: 'Rename the tag “Tree”' }).waitFor()
    t.equal(await dialog.getByLabel('Tag', { exact: true }).inputValue(), 'Tree')
    t.equal(await dialog.getByRole('combobox', { name: 'Field' }).count(), 0)
    await dialog.getByLabel('Tag', { exact: true }).fill('Trees')
    await dialog.getByRole('button', { name: 'Change 16 plants' }).waitFor()
    t.same(await problemsOf(plants.page), [])
    await plants.page.keyboard.press('Escape')
    await plants.page.getByRole('checkbox', { name: 'Select all plants that match' }).click()
    await plants.shows(/^16 selected$/)
    await service.call({ body: { id: 100, name: 'Acer', tag: 'Tree' } })
    await plants.button('Delete…').click()
    await dialog.getByText('17 plants: Abies 1, Abies 3, Abies 5 and 14 more').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await plants.shows(/^17 selected$/)
    await plants.button('Clear').click()
    await plants.page.getByRole('searchbox').fill('Abies 3')
    await plants.row(5n).waitFor({ state: 'detached' })
    await plants.button('More').click()
    await plants.button('Export…').waitFor()
    t.equal(await plants.button('Rename this tag…').count(), 0, 'not all plants with the tag match')
    t.same(plants.complaints, [])
  })
})

testInBrowser(t, 'everybody can select plants', (open) => {
  for (const { device, person, fields } of [
    { device: 'a desktop, with own fields', person: DESK, fields: FIELDS },
    { device: 'a phone', person: { ...SMALL_PHONE, ...CALM }, fields: [] },
  ]) {
    t.test(device, async (t) => {
      const service = await startService(t, { fields })
      const many = Array.from({ length: 30 }, (_, index) => ({
        id: BigInt(index),
        name: `Abies alba Mill. ${index}`,
        tag: 'Tree',
      }))
      await importPlants(service.store, many, 'stop')
      const plants = await open(t, service.url, { ...person, token: service.token })
      const cell = plants.row(1n).locator('.select-cell')
      await cell.click()
      const area = await cell.boundingBox()
      t.ok(area && area.width >= 24 && area.height >= 24)
      const name = plants.row(1n).locator('.name')
      t.notOk(await name.evaluate(IS_CUT), 'the name is not cut')
      t.same(await misaligned(plants), [])
      await plants.shows(/^1 selected$/)
      t.same(await problemsOf(plants.page), [], 'the table')
      if (device === 'a phone') {
        await plants.button('Select all').click()
        await plants.shows(/^30 selected$/)
      }
      t.same(plants.complaints, [])
    })
  }
})

/** The columns whose head is not above their cells, except the actions, which have no column. A phone has no head. */
async function misaligned({ page }: PlantsPage): Promise<string[]> {
  const heads = (await page.getByRole('columnheader').all()).slice(0, -1)
  const cells = await page.locator('.plant-row').first().getByRole('gridcell').all()
  const found: string[] = []
  for (const [index, head] of heads.entries()) {
    const [above, below] = await Promise.all([head.boundingBox(), cells[index]?.boundingBox()])
    if (above?.x !== below?.x) found.push(`${await head.innerText()}: ${above?.x}, ${below?.x}`)
  }
  return found
}

const IS_INDETERMINATE = (box: { indeterminate: boolean }) => box.indeterminate
const IS_CUT = (element: { scrollWidth: number; clientWidth: number }) =>
  element.scrollWidth > element.clientWidth
const SELECTED_TEXT = 'getSelection().toString()'
