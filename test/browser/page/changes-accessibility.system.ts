/** Undo and changes of many plants for everybody: on small screens and in all colors. */

import t from 'tap'
import { importPlants } from '../../helpers/plants/import-plants.ts'
import { type Service, startService } from '../../helpers/service/service.ts'
import { findIllegible } from '../legibility.ts'
import {
  messageOf,
  CALM,
  dialogOf,
  PHONE,
  problemsOf,
  SMALL_PHONE,
  testInBrowser,
} from '../plants-page.ts'

/** A phone on its side. */
const LOW_PHONE = { ...PHONE, viewport: { width: 740, height: 360 } }

/** A laptop whose page is magnified to 200 %. */
const MAGNIFIED = { viewport: { width: 640, height: 400 } }

const SCREENS = {
  'a desktop': {},
  'a phone': SMALL_PHONE,
  'a phone on its side': LOW_PHONE,
} as const

/** On a phone, only the layout differs. */
const DARK = [{ colorScheme: 'dark', forcedColors: 'none' }] as const

const COLORS = [
  ...DARK,
  { colorScheme: 'light', forcedColors: 'none' },
  { colorScheme: 'dark', forcedColors: 'active' },
] as const

const COUNT = 40

/** How many rows a person sees who has scrolled to the table. */
const ROWS_IN_SIGHT = `(() => {
  const table = document.querySelector('.table')
  table.scrollIntoView()
  const area = table.getBoundingClientRect()
  const head = document.querySelector('.table-head').getBoundingClientRect()
  const bars = document.querySelector('.bars').getBoundingClientRect()
  const bottom = Math.min(innerHeight, area.bottom, bars.height > 0 ? bars.top : Infinity)
  return [...document.querySelectorAll('.plant-row')]
    .map((row) => row.getBoundingClientRect())
    .filter((row) => row.top >= Math.max(area.top, head.bottom) && row.bottom <= bottom).length
})()`

testInBrowser(t, 'everybody can undo changes, and change many plants', (open) => {
  let service: Service
  t.beforeEach(async (t) => {
    service = await startService(t)
    const plants = Array.from({ length: COUNT }, (_, index) => ({
      id: BigInt(index + 1),
      name: `Abies ${index + 1}${' with a very long name'.repeat(index % 4)}`,
      tag: 'Tree',
    }))
    await importPlants(service.store, plants, 'stop')
  })

  for (const [screen, person] of Object.entries(SCREENS)) {
    t.test(`axe finds nothing on ${screen}, and nothing is wider than the screen`, async (t) => {
      const plants = await open(t, service.url, { ...person, ...CALM, token: service.token })
      const { page } = plants
      const check = async (what: string, selector: string) => {
        for (const colors of screen === 'a desktop' ? COLORS : DARK) {
          await page.emulateMedia(colors)
          const problems = await problemsOf(page)
          // axe reads the colors that text would have without forced colors.
          const isForced = colors.forcedColors === 'active'
          const found = isForced
            ? problems.filter((problem) => !problem.startsWith('color-contrast:'))
            : [...problems, ...(await findIllegible(page, selector))]
          t.same(found, [], `${what}, ${JSON.stringify(colors)}`)
        }
      }
      await plants
        .row(4n)
        .getByRole('button', { name: /^Delete/ })
        .click()
      await messageOf(plants).waitFor()
      await plants
        .row(3n)
        .getByRole('button', { name: /^Delete/ })
        .click()
      await messageOf(plants).getByText('1 earlier change').waitFor()
      await plants.row(1n).getByRole('checkbox').click()
      await plants.shows(/^1 selected$/)
      await check('both bars', '.bars')

      await page.keyboard.press('ControlOrMeta+a')
      await plants.shows(/^38 selected$/)
      await plants.button('Change…').click()
      await dialogOf(plants).getByLabel('Tag', { exact: true }).fill('Conifer '.repeat(20))
      await plants.button('Change 38 plants').waitFor()
      await check('the change', 'dialog')

      await service.call({ method: 'PUT', path: '/plants/7', body: { name: 'x'.repeat(400) } })
      await service.call({ method: 'DELETE', path: '/plants/8' })
      const sent = Promise.withResolvers<void>()
      const failing = Promise.withResolvers<void>()
      await page.route('**/plants', async (route) => {
        if (route.request().method() !== 'PATCH') return route.continue()
        sent.resolve()
        await failing.promise
        return route.abort('connectionrefused')
      })
      await plants.button('Change 38 plants').click()
      await sent.promise
      await page.getByRole('dialog', { name: /^Set tag to / }).waitFor()
      await check('progress', 'dialog')
      failing.resolve()
      await page.getByRole('dialog', { name: 'Change paused' }).waitFor()
      await check('a pause', 'dialog')
      await page.unroute('**/plants')
      await plants.button('Continue').click()
      await page.getByRole('dialog', { name: 'Change finished' }).waitFor()
      t.equal(await dialogOf(plants).getByRole('listitem').count(), 2)
      await check('the result', 'dialog')

      await plants.button('Close').click()
      await messageOf(plants).getByText('36 plants, and 2 earlier changes').waitFor()
      await check('a long title', '.bars')
      t.same(
        plants.complaints.filter((each) => !each.includes('ERR_CONNECTION_REFUSED')),
        [],
      )
    })
  }

  for (const [screen, person] of Object.entries({ ...SCREENS, 'a page at 200 %': MAGNIFIED })) {
    t.test(`at least five rows and the bar are in sight on ${screen}`, async (t) => {
      const plants = await open(t, service.url, { ...person, ...CALM, token: service.token })
      await plants.row(5n).waitFor()
      t.ok((await plants.page.evaluate<number>(ROWS_IN_SIGHT)) >= 5, 'without a bar')
      await plants
        .row(2n)
        .getByRole('button', { name: /^Delete/ })
        .click()
      await messageOf(plants).waitFor()
      t.ok((await plants.page.evaluate<number>(ROWS_IN_SIGHT)) >= 5)
      await plants.page.evaluate('scrollTo(0, 0)')
      const bar = await messageOf(plants).boundingBox()
      const { height = 0 } = plants.page.viewportSize() ?? {}
      t.ok(bar && bar.y + bar.height <= height, 'a person need not look for the bar')
    })
  }

  t.test('a second click where the bar has just appeared does nothing', async (t) => {
    const plants = await open(t, service.url, { token: service.token })
    const { page } = plants
    const dismiss = plants.button('Dismiss')
    await plants
      .row(1n)
      .getByRole('button', { name: /^Delete/ })
      .click({ trial: true })
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('Animation.enable')
    // The moment lasts as long as an animation.
    await devtools.send('Animation.setPlaybackRate', { playbackRate: 0.001 })
    await page.mouse.down()
    await page.mouse.up()
    await dismiss.waitFor()
    await dismiss.click({ force: true })
    t.equal(await messageOf(plants).count(), 1)
    await devtools.send('Animation.setPlaybackRate', { playbackRate: 1 })
    await dismiss.click()
    await messageOf(plants).waitFor({ state: 'detached' })
    t.same(plants.complaints, [])
  })
})
