/** The table of plants in the page: long lists, filters, and plants that are meant to do harm. */

import t from 'tap'
import type { NewPlant } from '../../../client/client.ts'
import { startFaulty } from '../../faults/faulty-service.ts'
import { importPlants } from '../../helpers/plants/import-plants.ts'
import { until } from '../../helpers/processes/until.ts'
import { type Service, startService } from '../../helpers/service/service.ts'
import {
  beginCondition,
  dialogOf,
  PHONE,
  type PlantsPage,
  SMALL_PHONE,
  testInBrowser,
} from '../plants-page.ts'

/** More than one request of a search examines, but all can be counted. */
const MANY = 29_999

/** The height of a row, in pixels. */
const ROW = 36

const RIGHT_TO_LEFT = '\u202Exobni \u0645\u0631\u062d\u0628\u0627 \u2066'

const MALICIOUS: readonly NewPlant[] = [
  { id: 1n, name: '<img src=x onerror="document.title=1">', tag: '<script>alert(1)</script>' },
  { id: 2n, name: RIGHT_TO_LEFT, tag: RIGHT_TO_LEFT },
  { id: 3n, name: '🌱'.repeat(50_000), tag: 'x'.repeat(200_000) },
  { id: 4n, name: 'several\r\nlines\n\u0085\u2028\t' },
  { id: 5n, name: '', tag: '' },
  { id: -(2n ** 63n), name: '__proto__', tag: 'constructor' },
]

testInBrowser(t, 'the table of the page', (open) => {
  let service: Service
  t.before(async () => {
    service = await startService(t)
    const plants = Array.from({ length: MANY }, (_, index) => ({
      id: BigInt(index + 1),
      name: `${index % 1000 === 999 ? 'Quercus' : 'Abies'} ${index + 1}`,
      ...(index % 2 === 0 && { tag: index % 100 === 0 ? 'Shrub' : 'Tree' }),
    }))
    await importPlants(service.store, plants, 'stop')
  })

  t.test('many plants scroll, and few of them are in the document', async (t) => {
    const plants = await open(t, service.url, { token: service.token })
    const { page } = plants
    await plants.rows('Abies 1').first().waitFor()
    const scroller = page.locator('.table')
    let most = 0
    while ((await scroller.locator('.rows').evaluate(HEIGHT)) < MANY * ROW) {
      await scroller.evaluate((element) => element.scrollTo(0, element.scrollHeight))
      most = Math.max(most, await plants.rows().count())
    }
    await plants.shows('29,999 plants')
    for (const top of [0, 600_000, 300_000, 1_000_000]) {
      await scroller.evaluate((element, top) => element.scrollTo(0, top), top)
      await plants
        .rows(`${Math.ceil(top / ROW) + 1}`)
        .first()
        .waitFor()
    }
    // A person who scrolls with the wheel.
    await scroller.hover()
    for (let turn = 0; turn < 50; turn++) {
      await page.mouse.wheel(0, 300)
      most = Math.max(most, await plants.rows().count())
    }
    t.ok(most < 100, `${most} rows`)
    t.same(plants.complaints, [])
  })

  t.test('a row that is loaded late does not take the focus', async (t) => {
    const plants = await open(t, service.url, { token: service.token })
    const { page } = plants
    const scroller = page.locator('.table')
    await plants.row(1n).waitFor()
    for (let top = 0; top <= 60_000; top += 6000) {
      const id = BigInt(Math.ceil(top / ROW) + 1)
      // Until the rows below are loaded, the table may be too short.
      await until(`plant ${id} is in view`, async () => {
        await scroller.evaluate((element, top) => element.scrollTo(0, top), top)
        return plants.row(id).isVisible()
      })
    }
    await plants.row(1668n).focus()
    const requested = Promise.withResolvers<() => Promise<void>>()
    await page.route('**/plants?*', (route) => requested.resolve(() => route.continue()), {
      times: 1,
    })
    await page.keyboard.press('Home')
    const proceed = await requested.promise
    await page.getByRole('searchbox').click()
    await proceed()
    await plants.row(1n).waitFor()
    await page.keyboard.type('Abies 99')
    await plants.rows('Abies 99').first().waitFor()
    t.equal(await page.locator('input[type=search]:focus').inputValue(), 'Abies 99')
  })

  t.test('plants by others do not move the rows in view', async (t) => {
    const plants = await open(t, service.url, { token: service.token })
    const scroller = plants.page.locator('.table')
    await plants.rows('Abies 1').first().waitFor()
    await scroller.evaluate((element, top) => element.scrollTo(0, top), 100 * ROW)
    const row = plants.rows('Abies 105').first()
    await row.waitFor()
    const before = await row.boundingBox()
    await service.call({ body: { id: 0, name: 'first' } })
    await plants.shows('1 just changed')
    const isAt = (top: number) => () =>
      scroller.evaluate((element, top) => element.scrollTop === top, top)
    await until('the table has moved', isAt(101 * ROW))
    t.same(await row.boundingBox(), before)
    await plants.page.mouse.move(0, 0)
    await service.call({ method: 'DELETE', path: '/plants/0' })
    await until('the table has moved back', isAt(100 * ROW))
  })

  t.test(
    'a search and a tag select plants, the URL keeps them, and Back undoes them',
    async (t) => {
      const plants = await open(t, service.url, { token: service.token, ...SMALL_PHONE })
      const { page } = plants
      const search = page.getByRole('searchbox')
      await search.pressSequentially('  quercus', { delay: 20 })
      await plants.rows('Quercus 1000').first().waitFor()
      await plants.shows(/^29 plants$/)
      t.equal(await plants.rows('Abies').count(), 0)
      t.equal(await page.locator('.name mark').first().innerText(), 'Quercus')
      await search.pressSequentially(' 1 ')
      await plants.shows(/^12 plants$/)
      t.equal(await search.inputValue(), '  quercus 1 ')
      t.ok(page.url().endsWith('#q=quercus+1'))
      await page.reload()
      await plants.shows(/^12 plants$/)
      t.equal(await search.inputValue(), 'quercus 1')
      await plants.button('Show all plants').click()
      await plants.shows(/^29,999 plants$/)

      await beginCondition(plants, 'is')
      const field = dialogOf(plants).getByRole('combobox', { name: 'Tag' })
      await field.click()
      const offered = dialogOf(plants).locator('datalist option')
      await offered.nth(1).waitFor({ state: 'attached' })
      t.same(await offered.evaluateAll(VALUES), ['Shrub', 'Tree'])
      await field.fill('Shrub')
      await field.press('Enter')
      await plants.shows(/^300 plants$/)
      await plants.chip('Tag is Shrub').waitFor()
      await search.fill('5001 Ábies')
      await plants.shows(/^3 plants$/)
      await search.fill('Abies 15001')
      await plants.shows(/^1 plant$/)
      await plants.rows('Abies 15001').waitFor()
      t.ok(page.url().endsWith('#q=Abies+15001&tag=Shrub'))
      await page.goBack()
      await plants.shows(/^300 plants$/)
      t.equal(await search.inputValue(), '', 'typing is one entry')
      await page.goBack()
      await plants.shows(/^29,999 plants$/)
      t.equal(await plants.chip('Tag is Shrub').count(), 0)
      await page.goForward()
      await plants.shows(/^300 plants$/)
      await plants.chip('Tag is Shrub').click()
      await plants.shows(/^29,999 plants$/)
      await search.fill('Abies 5001')
      // Sooner than the search begins.
      await plants.row(1n).getByRole('button', { name: 'Shrub' }).click()
      await plants.shows(/^3 plants$/)
      t.ok(page.url().endsWith('#q=Abies+5001&tag=Shrub'))
      await page.evaluate('location.hash = "#tag=unknown"')
      await plants.shows('No plant matches')
      await plants.chip('Tag is unknown').click()
      await plants.shows(/^29,999 plants$/)

      await beginCondition(plants, 'has no value')
      await plants.button('Add').click()
      await plants.shows(/^14,999 plants$/)
      await plants.row(2n).getByText('No tag').waitFor()
      t.ok(page.url().endsWith('#untagged=true'))
      t.equal(await page.evaluate(OVERFLOW), 0)
      await plants.chip('No tag').click()
      await plants.row(1n).getByRole('button', { name: 'Shrub' }).click()
      await plants.shows(/^300 plants$/)
      await plants.chip('Tag is Shrub').waitFor()
      t.same(plants.complaints, [])
    },
  )

  t.test('the list can begin with any id', async (t) => {
    const plants = await open(t, service.url, { token: service.token })
    const search = plants.page.getByRole('searchbox')
    const goTo = async (id: string) => {
      await search.fill(id)
      await plants.button(`Go to id ${id}`).click()
    }
    await search.fill('15555')
    await plants.shows(/^1 plant$/)
    await goTo('15555')
    await plants.row(15_556n).waitFor()
    t.equal(await search.inputValue(), '')
    await plants.shows('29,999 plants')
    await plants.shows('shown from id 15555')
    t.equal(await plants.row(15_554n).count(), 0)
    await plants.button('Show from the start').click()
    await plants.row(1n).waitFor()
    await goTo('-5')
    await plants.shows('There is no plant -5. The next one is 1.')
    await plants.page.evaluate('location.hash = "#q=Quercus&from=15555"')
    await plants.shows('No plant that matches has the id 15555. The next one is 16000.')
    await plants.button('Show all plants').click()
    await plants.row(1n).waitFor()
    await goTo('9223372036854775807')
    await plants.shows('No plants from here on')
    await search.fill('9223372036854775808')
    await plants.shows('No plant matches')
    t.equal(await plants.button(/^Go to id/).count(), 0)
    await search.fill('x15555')
    await plants.shows('No plant matches')
    t.equal(await plants.button(/^Go to id/).count(), 0)
  })

  t.test('End leads to the last plants, and Home back to the first', async (t) => {
    const plants = await open(t, service.url, { token: service.token })
    const { page } = plants
    await plants.row(1n).focus()
    await page.keyboard.press('End')
    await until('the last plant has the focus', () => plants.row(29_999n).evaluate(HAS_FOCUS))
    await page.keyboard.press('ArrowUp')
    await until('the one before it has', () => plants.row(29_998n).evaluate(HAS_FOCUS))
    await page.keyboard.press('Home')
    await until('the first plant has the focus', () => plants.row(1n).evaluate(HAS_FOCUS))
    t.same(plants.complaints, [])
    const phone = await open(t, service.url, { token: service.token, ...SMALL_PHONE })
    await phone.choose('Show the last ones')
    await phone.row(29_999n).waitFor()
    await phone.button('Show from the start').click()
    await phone.row(1n).waitFor()
    t.equal(await phone.page.evaluate(OVERFLOW), 0)
  })

  t.test('a plant that is meant to do harm is only text', async (t) => {
    const other = await startService(t)
    await importPlants(other.store, [...MALICIOUS], 'stop')
    for (const reader of [{}, PHONE]) {
      const plants = await open(t, other.url, { token: other.token, ...reader })
      const { page } = plants
      await plants.rows().nth(5).waitFor()
      t.equal(await page.locator('.rows :is(img, script)').count(), 0)
      t.match(await plants.rows('onerror').innerText(), MALICIOUS[0]?.tag)
      t.match(await plants.row(2n).innerText(), 'U+202Exobni')
      t.match(await plants.row(4n).innerText(), 'several↵lines↵↵↵⇥')
      t.ok((await page.locator('.rows').innerText()).length < 3000, 'long text is cut')
      await plants.rows('No name').getByText('Empty tag').waitFor()
      await plants.rows('-9223372036854775808').waitFor()
      // The marks of a name do not reorder the rest of its row.
      const [name, tag] = await boxes(plants, 2n, ['.name-cell', '.tag-cell'])
      t.ok(name && tag && (name.x + name.width <= tag.x + 1 || name.y + name.height <= tag.y + 1))
      t.equal(await page.evaluate(OVERFLOW), 0)
      t.same(plants.complaints, [])
    }
    const plants = await open(t, other.url, { token: other.token })
    await plants.button(/^Edit 🌱/).click()
    await plants.button('Show all 100,000 characters').click()
    await plants.button('Show all 200,000 characters').click()
    await plants.page.getByLabel('Tag', { exact: true }).last().fill('short')
    await plants.button('Save').click()
    await plants.rows('short').waitFor()
    t.equal(
      (await other.stored(3n))?.name,
      '🌱'.repeat(50_000),
      'what is not edited is not changed',
    )
    t.same(plants.complaints, [])
  })

  t.test('what cannot be loaded is explained, and tried again', async (t) => {
    const { service: other, injection } = await startFaulty(t, [
      { operation: 'listPlants', first: 8, error: 'internal-error' },
    ])
    const failures = () => injection.requests.filter(({ fault }) => fault === 0).length
    const plants = await open(t, other.url, { token: other.token })
    await plants.shows('Internal')
    while (failures() < 8) await plants.button('Try again').click()
    await plants.shows('No plants yet')
  })
})

async function boxes(plants: PlantsPage, id: bigint, selectors: readonly string[]) {
  const row = plants.row(id)
  return Promise.all(selectors.map((selector) => row.locator(selector).boundingBox()))
}

declare const document: { documentElement: { scrollWidth: number } }
declare const innerWidth: number
const OVERFLOW = () => document.documentElement.scrollWidth - innerWidth
const HEIGHT = (element: { clientHeight: number }) => element.clientHeight
const VALUES = (options: { value: string }[]) => options.map(({ value }) => value)
const HAS_FOCUS = (element: { matches(selector: string): boolean }) => element.matches(':focus')
