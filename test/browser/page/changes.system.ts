/** Changing plants in the page, also while others do. */

import type { Locator } from 'playwright-core'
import t, { type Test } from 'tap'
import { importPlants } from '../../helpers/plants/import-plants.ts'
import { type Service, startService } from '../../helpers/service/service.ts'
import { messageOf, PHONE, type PlantsPage, testInBrowser } from '../plants-page.ts'
import { startNetwork } from '../unreliable-network.ts'

/** A point of the screen, in pixels. */
type Place = readonly [x: number, y: number]

async function centerOf(locator: Locator): Promise<Place> {
  const { x, y, width, height } = await locator.evaluate((element) =>
    element.getBoundingClientRect().toJSON(),
  )
  return [x + width / 2, y + height / 2]
}

testInBrowser(t, 'changes in the page', (open) => {
  let service: Service
  t.before(async () => {
    service = await startService(t)
  })

  /** Opens the page with plants that no other test uses. */
  async function begin(t: Test, ...names: string[]): Promise<PlantsPage> {
    const plants = names.map((name, index) => ({ id: BigInt(index + 1), name, tag: 'Tree' }))
    for await (const id of ids()) await service.call({ method: 'DELETE', path: `/plants/${id}` })
    await importPlants(service.store, plants, 'stop')
    const page = await open(t, service.url, { token: service.token })
    if (names[0] !== undefined) await page.rows(names[0]).waitFor()
    return page
  }

  async function* ids() {
    const { json } = await service.call({ method: 'GET', path: '/plants?limit=1000' })
    for (const { id } of json as { id: bigint }[]) yield id
  }

  const put = (id: number | bigint, body: object) =>
    service.call({ method: 'PUT', path: `/plants/${id}`, body })

  t.test('a plant is added, edited, deleted and restored', async (t) => {
    const plants = await begin(t)
    await plants.shows('No plants yet')
    await plants.button('Add plant').click()
    t.equal(await plants.page.getByLabel('Id', { exact: true }).inputValue(), '1')
    const id = 2n ** 53n + 1n
    await plants.type({ id: String(id), name: 'Abies alba', tag: 'Tree' })
    await plants.button('Save').click()
    await plants.rows('Abies alba').waitFor()
    t.match(await service.stored(id), { name: 'Abies alba', tag: 'Tree' })

    await plants.edit('Abies alba', { name: 'Abies nigra', tag: '' })
    await plants.page.keyboard.press('Enter')
    await plants.rows('Abies nigra').waitFor()
    t.match(await service.stored(id), { name: 'Abies nigra', tag: null })

    await put(id, { name: 'Abies nigra', tag: '' })
    await plants.rows('Empty tag').waitFor()
    await plants.edit('Abies nigra', {})
    await plants.page.getByLabel('Save an empty tag').uncheck()
    await plants.button('Save').click()
    await plants.rows('No tag').waitFor()
    t.match(await service.stored(id), { tag: null })

    await plants.button('Delete Abies nigra').click()
    await plants.rows('deleted').waitFor()
    await plants.page.mouse.move(0, 0)
    await plants.shows('No plants yet')
    t.equal(await plants.page.locator('.rows > *').count(), 0)
    t.equal(await service.stored(id), undefined)
    await plants.page.getByRole('searchbox').fill('other')
    await plants.shows('No plant matches')
    await plants.button('Undo').click()
    await messageOf(plants).getByText('Undone: Abies nigra').waitFor()
    await plants.button('Show all plants').click()
    await plants.rows('Abies nigra').waitFor()
    t.strictSame(await service.stored(id), { id, name: 'Abies nigra', tag: null })
    t.same(plants.complaints, [])
  })

  t.test('a plant is edited as in a spreadsheet', async (t) => {
    const plants = await begin(t, 'Abies', 'Acer')
    const { page } = plants
    const { keyboard } = page
    const name = page.locator('textarea:focus')
    await page.locator('.plant-row:focus').waitFor()
    for (const key of ['F2', 'Space']) {
      await keyboard.press(key)
      await name.waitFor()
      t.equal(await name.inputValue(), 'Abies', 'the key types nothing')
      await keyboard.press('Escape')
      await page.locator('.plant-row:focus').waitFor()
    }
    await plants.rows('Acer').dblclick()
    await name.waitFor()
    t.equal(await name.inputValue(), 'Acer')
    await keyboard.press('ControlOrMeta+A')
    await keyboard.type('Acer rubrum')
    await keyboard.press('Tab')
    await keyboard.type('Shrub')
    await keyboard.press('Enter')
    await page.locator('.plant-row:focus', { hasText: 'Acer rubrum' }).waitFor()
    t.match(await service.stored(2n), { name: 'Acer rubrum', tag: /Shrub/ })
    t.same(plants.complaints, [])
  })

  t.test('one plant after the other is added, and the table stays where it is', async (t) => {
    const names = Array.from({ length: 60 }, (_, index) => `Abies ${index + 100}`)
    const plants = await begin(t, ...names)
    const { page } = plants
    const scroller = page.locator('.table')
    await scroller.evaluate((element) => element.scrollTo(0, 440))
    await plants.button('Add plant').click()
    await plants.type({ id: '1.5', name: 'Acer' })
    await plants.button('Save').click()
    const id = page.getByLabel('Id', { exact: true })
    const problem = 'The id must be a whole number'
    await page.locator('form.editor').getByText(problem).waitFor()
    t.ok(await id.evaluate((element) => element.matches(':focus[aria-invalid="true"]')))
    await plants.type({ id: '100' })
    await plants.button('Save and add another').click()
    await page.locator('textarea:focus').waitFor()
    t.equal(await id.inputValue(), '101')
    await page.keyboard.type('Aconitum')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Add plant' }).and(page.locator(':focus')).waitFor()
    t.equal(await scroller.evaluate((element) => element.scrollTop), 440)
    t.match(await service.stored(100n), { name: 'Acer' })
    await page.getByRole('status').filter({ hasText: 'Added Aconitum' }).waitFor()
    await page.getByRole('link', { name: 'Show it' }).click()
    await page.locator('.plant-row:focus', { hasText: 'Aconitum' }).waitFor()
    t.same(plants.complaints, [])
  })

  t.test('changes by others appear with a mark', async (t) => {
    const plants = await begin(t, 'Abies', 'Acer', 'Aconitum')
    await service.call({ body: { id: 10, name: 'Zygophlebia' } })
    await plants.rows('Zygophlebia').getByText('new').waitFor()
    await put(1, { name: 'Abies alba' })
    await plants.rows('Abies alba').getByText('changed').waitFor()
    await service.call({ method: 'DELETE', path: '/plants/2' })
    await plants.rows('Acer').getByText('deleted').waitFor()
    await plants.rows('Acer').waitFor({ state: 'detached' })
    await plants.page.locator('.marked').waitFor({ state: 'detached' })
    await plants.shows(/^3 plants$/)
    t.same(plants.complaints, [])
  })

  for (const [device, reader] of Object.entries({ 'a desktop': {}, 'a phone': PHONE })) {
    t.test(`a second click in the same place deletes no other plant on ${device}`, async (t) => {
      await begin(t, 'Abies', 'Acer', 'Aconitum', 'Alnus', 'Arum')
      const plants = await open(t, service.url, { ...reader, token: service.token })
      const { page } = plants
      const press = async ([x, y]: Place) => {
        if (device === 'a phone') await page.touchscreen.tap(x, y)
        else await page.mouse.click(x, y)
      }
      const deletions: string[] = []
      page.on('request', (request) => {
        const list = request.postData() ?? ''
        if (list.includes('"remove"')) deletions.push(list)
      })
      const place = await centerOf(plants.button('Delete Acer'))
      const other = await centerOf(plants.rows('Arum'))
      await press(place)
      await plants.rows('Acer').getByText('deleted').waitFor()
      await plants.button('Undo').waitFor()
      t.same(await centerOf(plants.rows('Arum')), other, 'the notice moves no row')
      t.equal(await plants.rows('Acer').getByRole('button').count(), 0)
      await press(place)
      await press(place)
      await plants.shows(/^4 plants$/)

      // Once the pointer has left the row, the others move up.
      await press(await centerOf(plants.page.getByRole('heading', { name: 'Plants' })))
      await plants.rows('Acer').waitFor({ state: 'detached' })
      await press(place)
      t.ok(await plants.rows('Aconitum').isVisible())
      await plants.button('Undo').click()
      await plants.rows('Acer').waitFor()
      t.match(deletions, [/"id":2,/])
      t.equal(deletions.length, 1)
      t.equal(await service.count(), 5)
      t.same(plants.complaints, [])
    })
  }

  t.test('a click where others have just deleted a plant does nothing', async (t) => {
    const plants = await begin(t, 'Abies', 'Acer', 'Aconitum')
    const { page } = plants
    const [x, y] = await centerOf(plants.button('Delete Acer'))
    await page.mouse.move(x, y)
    await service.call({ method: 'DELETE', path: '/plants/2' })
    await plants.rows('Acer').getByText('deleted').waitFor()
    t.equal(await plants.rows('Acer').getByRole('button').count(), 0)
    t.equal(await plants.rows('Acer').getByRole('checkbox').count(), 0)
    await page.mouse.click(x, y)
    await plants.row(2n).focus()
    await page.keyboard.press('Delete')
    await page.keyboard.press('Enter')
    await page.mouse.move(0, 0)
    await plants.rows('Acer').waitFor({ state: 'detached' })

    await page.mouse.move(x, y)
    await service.call({ body: { id: 0, name: 'Abelia' } })
    await plants.rows('Abelia').waitFor()
    await page.mouse.click(x, y)
    await plants.shows(/^3 plants$/)
    t.equal(await service.count(), 3)
    await plants.button('Delete Abies').click()
    await plants.rows('Abies').getByText('deleted').waitFor()
    t.equal(await service.stored(1n), undefined, 'soon, clicks work again')
    t.same(plants.complaints, [])
  })

  t.test('two people who change the same fields are asked about each of them', async (t) => {
    const plants = await begin(t, 'Abies')
    const { page } = plants
    await plants.edit('Abies', { name: 'Abies nigra', tag: 'Shrub' })
    await put(1, { name: 'Abies alba', tag: 'Bush' })
    const name = page.getByRole('group', { name: 'Name', exact: true })
    const tag = page.getByRole('group', { name: 'Tag', exact: true })
    await name.waitFor()
    t.same(await name.locator('dd').allInnerTexts(), ['Abies nigra', 'Abies alba'])
    t.same(await tag.locator('dd').allInnerTexts(), ['Shrub', 'Bush'])
    await name.getByRole('button', { name: 'Use the stored one' }).focus()
    await page.keyboard.press('Enter')
    await name.waitFor({ state: 'detached' })
    await page.locator('.conflict .reason:focus').waitFor()
    await page.keyboard.press('Tab')
    t.match(await page.locator('button:focus').innerText(), 'Save mine', 'the next question')
    await page.keyboard.press('Enter')
    await page.locator('.plant-row:focus', { hasText: 'Abies alba' }).waitFor()
    t.match(await service.stored(1n), { name: 'Abies alba', tag: 'Shrub' })
    t.same(plants.complaints, [])
  })

  t.test('nothing that decides about a conflict has the focus by itself', async (t) => {
    const plants = await begin(t, 'Abies', 'Acer')
    const { page } = plants
    const sentence = page.locator('.conflict .reason:focus')
    await plants.edit('Abies', { name: 'mine' })
    await plants.button('Save').focus()
    await put(1, { name: 'theirs' })
    await sentence.waitFor()
    t.equal(await sentence.innerText(), 'Somebody has changed plant 1.', 'in place of Save')
    await page.reload()
    await sentence.waitFor()

    await page.keyboard.press('Escape')
    await page.locator('.tray .conflict').waitFor()
    await page.reload()
    await page.locator('.tray .conflict').waitFor()
    await page.locator('.plant-row:focus').waitFor()
    await page.keyboard.press('Space')
    await sentence.waitFor()
    await page.keyboard.press('Space')
    await plants.button('Save mine').waitFor()
    t.match(await service.stored(1n), { name: 'theirs' })
    await plants.button('Keep the stored one').click()

    await plants.edit('Acer', { name: 'Acer rubrum' })
    await plants.button('Save').focus()
    await service.call({ method: 'DELETE', path: '/plants/2' })
    await sentence.waitFor()
    t.equal(await sentence.innerText(), 'Somebody has deleted plant 2.')
    await page.reload()
    await sentence.waitFor()
    t.same(plants.complaints, [])
  })

  t.test('a click where a conflict has just appeared decides nothing', async (t) => {
    const plants = await begin(t, 'Abies')
    const devtools = await plants.page.context().newCDPSession(plants.page)
    await devtools.send('Animation.enable')
    // The moment lasts as long as an animation.
    await devtools.send('Animation.setPlaybackRate', { playbackRate: 0.001 })
    await plants.edit('Abies', { name: 'mine' })
    await put(1, { name: 'theirs' })
    const mine = plants.button('Save mine')
    await mine.waitFor()
    await mine.click({ force: true })
    t.equal(await mine.count(), 1)
    await devtools.send('Animation.setPlaybackRate', { playbackRate: 1 })
    await mine.click()
    await plants.rows('mine').waitFor()
    t.match(await service.stored(1n), { name: 'mine' })
  })

  t.test('a person can go on editing in a conflict, and add a deleted plant again', async (t) => {
    const plants = await begin(t, 'Abies')
    await plants.edit('Abies', { name: 'Abies nigra' })
    await put(1, { name: 'Abies alba', tag: 'Tree' })
    await plants.button('Keep editing').click()
    await plants.type({ name: 'Abies nigra L.' })
    await plants.button('Save').click()
    await plants.rows('Abies nigra L.').waitFor()
    await plants.edit('Abies nigra L.', { name: 'Abies' })
    await service.call({ method: 'DELETE', path: '/plants/1' })
    await plants.button('Add it again').click()
    await plants.page.locator('form.editor').waitFor({ state: 'detached' })
    t.match(await service.stored(1n), { name: 'Abies', tag: 'Tree' })
    t.same(plants.complaints, [])
  })

  t.test('what was typed while there is no connection is sent once it is back', async (t) => {
    await begin(t, 'Abies', 'Acer', 'Aconitum', 'Alnus')
    const network = await startNetwork(t, service.port)
    const plants = await open(t, network.url, { token: service.token })
    await plants.rows('Abies').waitFor()
    // The editor is loaded after the list.
    await plants.edit('Abies', {})
    await plants.page.keyboard.press('Escape')
    network.disconnect()
    await plants.shows('Connection lost. Trying again…')
    await plants.edit('Abies', { name: 'Abies nigra' })
    await plants.button('Save').click()
    await plants.shows('Not saved. The service could not be reached.')
    await plants.edit('Acer', { name: 'Acer nigrum' })
    await plants.button('Save').click()
    await plants.button('Send again').nth(1).waitFor()
    await plants.button('Delete Aconitum').click()
    await plants.rows('Aconitum').getByText('not saved').waitFor()
    await plants.edit('Alnus', { name: 'Alnus nigra' })
    await plants.button('Save').click()
    await plants.button('Send again').nth(3).waitFor()
    t.equal(await plants.rows('not saved').count(), 3, 'the last one is being edited')

    const question = plants.page.waitForEvent('dialog')
    const closed = plants.page.close({ runBeforeUnload: true })
    t.equal((await question).type(), 'beforeunload')
    await (await question).dismiss()
    await closed

    await put(4, { name: 'Alnus glutinosa', tag: 'Tree' })
    network.connect()
    await plants.page.getByText('Live', { exact: true }).waitFor()
    await plants.rows('Acer nigrum').waitFor()
    await plants.rows('Abies nigra').waitFor()
    await plants.shows('Somebody has changed plant 4.')
    await plants.button('Keep the stored one').click()
    await plants.page.locator('.tray').waitFor({ state: 'detached' })
    t.match(await service.stored(1n), { name: 'Abies nigra' })
    t.match(await service.stored(2n), { name: 'Acer nigrum' })
    t.equal(await service.stored(3n), undefined)
    t.match(await service.stored(4n), { name: 'Alnus glutinosa' })
  })

  t.test('what cannot be sent although the page is live waits for the person', async (t) => {
    const plants = await begin(t, 'Abies', 'Acer')
    const { page } = plants
    await page.route('**/plants', (route) => route.fulfill({ status: 500 }))
    await plants.button('Delete Abies').click()
    await plants.button('Delete Acer').click()
    await plants.button('Send again').nth(1).waitFor()
    await plants.shows('Live')
    await page.unroute('**/plants')
    await plants.button('Send all again').click()
    await page.locator('.tray').waitFor({ state: 'detached' })
    t.equal(await service.count(), 0)
  })
})
