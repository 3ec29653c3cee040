/** Changing many plants in the page, and taking that back. */

import t, { type Test } from 'tap'
import { importPlants } from '../../helpers/plants/import-plants.ts'
import { until } from '../../helpers/processes/until.ts'
import { type Service, startService } from '../../helpers/service/service.ts'
import {
  CALM,
  counts,
  dialogOf,
  messageOf,
  type PlantsPage,
  testInBrowser,
  titled,
} from '../plants-page.ts'

const DESK = { viewport: { width: 1400, height: 900 }, ...CALM }

/** More than the page sends at once. */
const TREES = 1200

testInBrowser(t, 'many plants are changed', (open) => {
  let service: Service

  async function begin(t: Test, trees = TREES): Promise<PlantsPage> {
    service = await startService(t)
    const plants = Array.from({ length: trees + 1 }, (_, index) => ({
      id: BigInt(index),
      name: `Abies ${index}`,
      tag: index === 0 ? 'Shrub' : 'Tree',
    }))
    await importPlants(service.store, plants, 'stop')
    const page = await open(t, service.url, { ...DESK, token: service.token })
    await page.row(1n).waitFor()
    return page
  }

  const countTag = async (tag: string) => {
    const plants = (await Array.fromAsync(service.store.exportPlants())).flat()
    return plants.filter((plant) => plant.tag === tag).length
  }

  /** Selects all trees. */
  async function selectTrees(plants: PlantsPage, trees: string): Promise<void> {
    await plants.row(1n).getByRole('button', { name: 'Tree' }).click()
    await plants.row(0n).waitFor({ state: 'detached' })
    await plants.page.getByRole('checkbox', { name: 'Select all plants that match' }).click()
    await plants.shows(`${trees} selected`)
  }

  /** Sets the tag of all trees. */
  async function setTag(plants: PlantsPage, trees = '1,200'): Promise<void> {
    await selectTrees(plants, trees)
    await plants.button('Change…').click()
    await dialogOf(plants).getByLabel('Tag', { exact: true }).fill('Conifer')
    await plants.button(`Change ${trees} ${trees === '1' ? 'plant' : 'plants'}`).click()
  }

  /**
   * Holds the list of changes with a number, until `release` is called. A refused list does not count: whether the feed tells
   * the page in time that somebody has changed a plant is a matter of chance.
   */
  async function holdList({ page }: PlantsPage, number: number) {
    const sent = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    let made = 0
    await page.route('**/plants', async (route) => {
      if (route.request().method() !== 'PATCH') return route.continue()
      if (made === number - 1) {
        sent.resolve()
        await released.promise
      }
      try {
        const response = await route.fetch()
        if (response.ok()) made++
        await route.fulfill({ response })
      } catch {
        // The page has ended the request.
      }
    })
    return { sent: sent.promise, release: released.resolve }
  }

  t.test('and changed back, from the dialog', async (t) => {
    const plants = await begin(t)
    const list = await holdList(plants, 2)
    await selectTrees(plants, '1,200')
    await plants.button('Change…').click()
    await dialogOf(plants).getByLabel('Tag', { exact: true }).fill('Conifer')
    await plants.button('Change 1,200 plants').waitFor()
    await service.call({ method: 'PUT', path: '/plants/7', body: { name: 'theirs', tag: 'Bush' } })
    await service.call({ method: 'DELETE', path: '/plants/900' })
    await plants.button('Change 1,200 plants').click()
    await list.sent
    await titled(plants, 'Set tag to “Conifer”')
    t.equal(await dialogOf(plants).getByRole('progressbar').getAttribute('max'), '1200')
    await until('progress', async () => (await counts(plants)).includes('Changed 499'))
    await plants.page.keyboard.press('Escape')
    list.release()
    await titled(plants, 'Change finished')
    t.same(await counts(plants), ['Changed 1,198', 'Not changed 2'])
    const refused = dialogOf(plants).getByRole('listitem')
    t.same(
      (await refused.allInnerTexts()).map((text) => text.split(/\n+/)),
      [
        [
          'Somebody has changed this plant meanwhile',
          'Wanted: 7 Abies 7 Conifer',
          'Stored: 7 theirs Bush',
        ],
        ['Somebody has deleted this plant meanwhile', 'Wanted: 900 Abies 900 Conifer'],
      ],
    )
    t.equal(await countTag('Conifer'), 1198)

    await service.call({ method: 'PUT', path: '/plants/9', body: { name: 'later', tag: 'Bush' } })
    await plants.button('Undo change').click()
    await titled(plants, 'Undo finished')
    t.same(await counts(plants), ['Changed 1,197', 'Not undone 1'])
    t.match(await refused.innerText(), /changed this plant.*Wanted: 9 Abies 9 Tree.*9 later Bush/s)
    t.equal(await countTag('Tree'), 1197)
    await plants.button('Close').click()
    await dialogOf(plants).waitFor({ state: 'detached' })
    t.equal(await messageOf(plants).count(), 0)
    await plants.page.locator('.plant-row:focus').waitFor()
    t.same(plants.complaints, [])
  })

  t.test('until the person cancels, and changed back later, after a reload', async (t) => {
    const plants = await begin(t)
    const list = await holdList(plants, 2)
    await setTag(plants)
    await list.sent
    await plants.button('Cancel').click()
    await titled(plants, 'Change canceled')
    list.release()
    t.same(await counts(plants), ['Changed 500', 'Not changed 0'])
    await plants.button('Close').click()
    await plants.page.reload()
    await messageOf(plants).getByText('Set tag to “Conifer”').waitFor()
    await plants.button('Undo').click()
    // The list that was being sent may be stored.
    const undone = /^Undone: Set tag to “Conifer”: (500|1,000) plants/
    await messageOf(plants).getByText(undone).waitFor()
    t.equal(await dialogOf(plants).count(), 0, 'nothing was refused')
    t.equal(await plants.button('Undo').count(), 0)
    await plants.page.locator('.plant-row:focus').waitFor()
    t.equal(await countTag('Tree'), TREES)
    t.same(plants.complaints, [])
  })

  t.test('but one only, which is then changed back like any other', async (t) => {
    const plants = await begin(t, 1)
    await setTag(plants, '1')
    await messageOf(plants).getByText('Set tag to “Conifer”', { exact: true }).waitFor()
    t.equal(await dialogOf(plants).count(), 0, 'nothing was refused')
    await plants.button('Undo').click()
    await until('it is changed back', async () => (await countTag('Tree')) === 1)
    await plants.button('Undo').waitFor({ state: 'detached' })
    t.equal(await dialogOf(plants).count(), 0)
    t.same(plants.complaints, [])
  })
})
