/** Taking back changes of single plants in the page. */

import t, { type Test } from 'tap'
import { importPlants } from '../../helpers/plants/import-plants.ts'
import { type Service, startService } from '../../helpers/service/service.ts'
import { messageOf, type PlantsPage, testInBrowser } from '../plants-page.ts'

/** Resolves once the message offers to undo something, and counts the changes before it. */
async function offers(plants: PlantsPage, done: string, earlier = ''): Promise<void> {
  const text = `${done}${earlier}Undo`
  await messageOf(plants).filter({ hasText: new RegExp(`${text}$`) }).waitFor()
}

async function save(plants: PlantsPage, name: string, typed: { name?: string; tag?: string }) {
  await plants.edit(name, typed)
  await plants.button('Save').click()
  await plants.page.locator('form.editor').waitFor({ state: 'detached' })
}

testInBrowser(t, 'changes are taken back', (open) => {
  let service: Service
  t.beforeEach(async (t) => {
    service = await startService(t)
  })

  async function begin(t: Test): Promise<PlantsPage> {
    const stored = [
      { id: 1n, name: 'Abies', tag: 'Tree' },
      { id: 2n, name: 'Acer', tag: 'Tree' },
    ]
    await importPlants(service.store, stored, 'stop')
    const plants = await open(t, service.url, { token: service.token })
    await plants.rows('Abies').waitFor()
    return plants
  }

  t.test('one after the other, the latest first, also after a reload', async (t) => {
    const plants = await begin(t)
    const { page } = plants
    await save(plants, 'Abies', { name: 'Abies alba' })
    await offers(plants, 'Saved Abies alba')
    await plants.button('Delete Acer').click()
    await offers(plants, 'Deleted Acer', '1 earlier change')
    await plants.button('Add plant').click()
    await plants.type({ id: '1', name: 'Aconitum' })
    await plants.button('Save').click()
    await plants.button('Replace the stored one').click()
    await offers(plants, 'Saved Aconitum', '2 earlier changes')
    t.match(await service.stored(1n), { name: 'Aconitum', tag: null })

    await page.reload()
    await offers(plants, 'Saved Aconitum', '2 earlier changes')
    await plants.button('Undo').click()
    await offers(plants, 'Deleted Acer', '1 earlier change')
    await messageOf(plants).getByText('Saved Abies alba').waitFor()
    await page.locator('.plant-row:focus', { hasText: 'Abies alba' }).waitFor()
    t.match(await service.stored(1n), { name: 'Abies alba', tag: 'Tree' })
    await plants.button('Undo').click()
    await plants.rows('Acer').waitFor()
    t.match(await service.stored(2n), { name: 'Acer', tag: 'Tree' })
    await page.reload()
    await offers(plants, 'Saved Abies alba')
    await plants.button('Undo').click()
    await plants.rows(/Abies(?! alba)/).waitFor()
    t.match(await service.stored(1n), { name: 'Abies', tag: 'Tree' })
    t.equal(await plants.button('Undo').count(), 0)
    await page.reload()
    await plants.rows('Acer').waitFor()
    t.equal(await messageOf(plants).count(), 0)
    t.same(plants.complaints, [])
  })

  t.test('after a change of the same plant that is not saved yet', async (t) => {
    const plants = await begin(t)
    const { page } = plants
    await save(plants, 'Abies', { name: 'Abies alba' })
    await plants.edit('Abies alba', { tag: 'typed' })
    await page.keyboard.press('Escape')
    await plants.shows('1 change is not saved')
    await plants.button('Undo').click()
    const tag = page.locator('form.editor').getByLabel('Tag', { exact: true })
    t.equal(await tag.inputValue(), 'typed', 'the person decides what becomes of it')
    t.match(await service.stored(1n), { name: 'Abies alba', tag: 'Tree' })
    await offers(plants, 'Saved Abies alba')
    t.same(plants.complaints, [])
  })
})
