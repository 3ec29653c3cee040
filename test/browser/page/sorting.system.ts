/** Sorting and filtering by own fields on the page, in a real browser. */
import t, { type Test } from 'tap'
import { createClient } from '../../../client/client.ts'
import { until } from '../../helpers/processes/until.ts'
import { type Service, startService } from '../../helpers/service/service.ts'
import { FIELDS } from '../../page/own-fields/nursery.ts'
import { tabTo } from '../keyboard.ts'
import {
  beginCondition,
  CALM,
  dialogOf,
  type PlantsPage,
  problemsOf,
  SMALL_PHONE,
  testInBrowser,
  titled,
} from '../plants-page.ts'

const DESK = { viewport: { width: 1400, height: 900 }, ...CALM }

const SORTABLE = FIELDS.map(({ name, schema }) => ({
  name,
  schema: { ...schema, ...(name === 'height' && { 'x-sortable': true }) },
}))

/** More than the page keeps in memory. */
const MANY = 3000

testInBrowser(t, 'the page sorts and filters by its columns', (open) => {
  async function start(t: Test): Promise<Service> {
    const service = await startService(t, { fields: SORTABLE, sortable: ['name'] })
    const plants = Array.from({ length: MANY }, (_, index) => ({
      id: BigInt(index + 1),
      name: `Abies ${index + 1}`,
      height: MANY - index,
      light: index % 2 === 0 ? 'sun' : 'shade',
      ...(index === 0 && { price: 1.5 }),
    }))
    await createClient(service).createPlants(plants)
    return service
  }

  const buildIndexes = async ({ store }: Service) => {
    while (await store.indexPlants());
  }

  t.test(
    'clicks on headers sort, long lists page in both directions, and Back returns',
    async (t) => {
      const service = await start(t)
      const plants = await open(t, service.url, { ...DESK, token: service.token })
      const { page } = plants
      await plants.row(1n).waitFor()
      const header = (name: string) => page.getByRole('columnheader', { name, exact: true })
      const buttons = page.locator('.table-head button')
      t.strictSame(await buttons.allInnerTexts(), ['Name', 'Height in cm', 'Id'])
      await plants.button('Height in cm').click()
      await plants.shows(/^The plants are still being sorted by height/)
      await plants.button('Height in cm').click()
      await plants.button('Height in cm').click()
      await plants.row(1n).waitFor()
      t.ok(page.url().endsWith('/#'))

      await buildIndexes(service)
      await plants.button('Height in cm').click()
      await plants.row(3000n).waitFor()
      await plants.shows(/^3,000 plants$/)
      t.equal(await header('Height in cm').getAttribute('aria-sort'), 'ascending')
      t.equal(await header('Id').getAttribute('aria-sort'), null)
      t.ok(await plants.button('Height in cm').evaluate((element) => element.matches(':focus')))
      const scroller = page.locator('.table')
      for (const height of [600, 1200, 1800, 2400, 2990, 2000, 1000, 300, 1]) {
        await until(`the plant of height ${height} is in view`, async () => {
          await scroller.evaluate((element, top) => element.scrollTo(0, top), (height - 1) * 36)
          return plants.row(BigInt(MANY + 1 - height)).isVisible()
        })
      }
      await scroller.evaluate((element) => element.scrollTo(0, 0))
      await service.call({ method: 'PATCH', path: '/plants/3000', body: { height: 4 } })
      await until(
        'the plant has moved',
        async () => (await topIds(plants)).join() === '2999,2998,2997,3000',
      )

      await page.keyboard.press('Enter')
      await plants.row(1n).waitFor()
      t.equal(await header('Height in cm').getAttribute('aria-sort'), 'descending')
      t.ok(page.url().endsWith('#sort=-height'))
      await page.reload()
      await until('it is sorted', async () => (await topIds(plants)).join() === '1,2,3,4')
      t.equal(await header('Height in cm').getAttribute('aria-sort'), 'descending')
      await plants.button('Name').click()
      await until('it is sorted', async () => (await topIds(plants)).join() === '1,10,100,1000')
      await page.goBack()
      await until('it is sorted', async () => (await topIds(plants)).join() === '1,2,3,4')
      await plants.button(/^Sorted by Height in cm, reversed/).click()
      t.equal(await header('Id').getAttribute('aria-sort'), 'ascending')
      await plants.button('Id').click()
      await plants.row(3000n).waitFor()
      t.same(await problemsOf(page), [])
      t.same(
        plants.complaints.filter((each) => !each.includes('503')),
        [],
      )
    },
  )

  t.test('conditions select plants, everywhere', async (t) => {
    const service = await start(t)
    await buildIndexes(service)
    const plants = await open(t, service.url, { ...DESK, token: service.token })
    const { page } = plants
    const add = (field: string, condition: string) => beginCondition(plants, condition, field)
    const submit = () => dialogOf(plants).getByRole('button', { name: 'Add' }).click()
    await plants.row(1n).waitFor()
    await plants.button('Height in cm').click()
    await add('Height in cm', 'is at least')
    await submit()
    await plants.shows('Enter or choose a value.')
    await dialogOf(plants).getByLabel('Height in cm', { exact: true }).fill('tall')
    await submit()
    await plants.shows(/^Height in cm must be a whole number/)
    t.same(await problemsOf(page), [])
    await dialogOf(plants).getByLabel('Height in cm', { exact: true }).fill('2991')
    await page.keyboard.press('Enter')
    await plants.shows(/^10 plants$/)
    t.ok(await plants.button('Filter…').evaluate((element) => element.matches(':focus')))
    await add('light', 'is')
    await dialogOf(plants).getByLabel('light', { exact: true }).selectOption('sun')
    await submit()
    await plants.shows(/^5 plants$/)
    await add('price', 'has no value')
    await submit()
    await plants.shows(/^4 plants$/)
    t.ok(page.url().endsWith('#sort=height&min.height=2991&is.light=sun&without.price=true'))
    t.same(await topIds(plants), ['9', '7', '5', '3'])
    t.same(await problemsOf(page), [])
    await service.call({ method: 'PATCH', path: '/plants/8', body: { light: 'sun' } })
    await plants.shows(/^5 plants$/)
    t.same((await topIds(plants, 5)).slice(0, 3), ['9', '8', '7'])

    await page.keyboard.press('Tab')
    await plants.row(7n).getByRole('checkbox').click()
    await plants
      .row(3n)
      .getByRole('checkbox')
      .click({ modifiers: ['Shift'] })
    await plants.shows(/^3 selected$/)
    await page.getByRole('checkbox', { name: 'Select all plants that match' }).click()
    await plants.shows(/^5 selected$/)
    await plants.button('Delete…').click()
    await titled(plants, 'Delete plants')
    await dialogOf(plants).getByRole('button', { name: 'Cancel' }).click()
    await plants.button('Clear').click()
    await plants.choose('Export…')
    await plants.shows('; light is sun')
    await page.keyboard.press('Escape')

    await page.reload()
    await plants.shows(/^5 plants$/)
    await plants.button(/^light is sun/).click()
    await plants.shows(/^9 plants$/)
    await page.goBack()
    await plants.shows(/^5 plants$/)
    t.same(plants.complaints, [])

    for (const [fragment, problem] of [
      ['#min.height=tall', /min\.height must be/],
      ['#is.unknown=1', /is\.unknown/],
      ['#sort=light', /sort must be/],
    ] as const) {
      await page.evaluate((hash) => {
        location.hash = hash
      }, fragment)
      await plants.shows(problem)
    }
    await plants.button(/^Sorted by light/).click()
    await plants.row(1n).waitFor()
  })

  t.test('a phone shows conditions and the order, and removes them', async (t) => {
    const service = await start(t)
    await buildIndexes(service)
    const plants = await open(t, `${service.url}`, {
      ...SMALL_PHONE,
      ...CALM,
      token: service.token,
    })
    const { page } = plants
    await page.evaluate("location.hash = '#sort=-height&is.light=shade&is.light=sun&min.planted=x'")
    await plants.button(/^Planted on is at least x/).click()
    await plants.row(1n).waitFor()
    await plants.button(/^light is shade or sun/).waitFor()
    t.same(await problemsOf(page), [])
    const unseen = await tabTo(page, '.chip')
    t.same(unseen, [])
    await plants.button('Filter…').click()
    await titled(plants, 'Add a condition')
    t.same(await problemsOf(page), [])
  })
})

declare const location: { hash: string }

/** The ids of the rows at the top of the table. */
async function topIds({ page }: PlantsPage, count = 4): Promise<readonly string[]> {
  const ids = await page.evaluate<string[]>(TOP_IDS)
  return ids.slice(0, count)
}

const TOP_IDS = `(() => {
  const { bottom } = document.querySelector('.table-head').getBoundingClientRect()
  return [...document.querySelectorAll('.plant-row[data-id]')]
    .map((row) => ({ id: row.dataset.id, top: row.getBoundingClientRect().top }))
    .filter(({ top }) => top >= bottom - 1)
    .sort((one, other) => one.top - other.top)
    .map(({ id }) => id)
})()`
