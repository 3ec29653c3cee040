/** Own fields on the page, in a real browser. */
import t, { type Test } from 'tap'
import { createClient } from '../../../client/client.ts'
import { OWN_FIELDS_MAX } from '../../../core/members/own-fields.ts'
import { type Service, startService } from '../../helpers/service/service.ts'
import { FIELDS, FIR } from '../../page/own-fields/nursery.ts'
import { CALM, PHONE, type PlantsPage, problemsOf, testInBrowser } from '../plants-page.ts'

const DESK = { viewport: { width: 1400, height: 900 }, ...CALM }

function clientOf({ url, token }: Service) {
  const options = { url, token, int64Fields: ['id2'] }
  return createClient(options)
}

/** The cells of a row without its check box, its id and its actions. */
async function cellsOf(plants: PlantsPage, id: bigint): Promise<readonly string[]> {
  return (await plants.row(id).getByRole('gridcell').allInnerTexts()).slice(1, -2)
}

testInBrowser(t, 'own fields are shown and changed on the page', (open) => {
  async function start(t: Test): Promise<Service> {
    const service = await startService(t, { fields: FIELDS })
    await clientOf(service).createPlants([FIR, { id: 8n, name: 'Acer' }])
    return service
  }

  t.test('each own field has a column', async (t) => {
    const service = await start(t)
    const plants = await open(t, service.url, { ...DESK, locale: 'en-US', token: service.token })
    await plants.row(7n).waitFor()
    const height = plants.page.getByRole('columnheader', { name: 'Height in cm' })
    t.equal(await height.getAttribute('title'), 'Measured above ground.')
    t.same(await cellsOf(plants, 7n), [
      'Abies',
      'Tree',
      ...[FIR.height, 'Mar 21, 2026', FIR.light, FIR.photo, FIR.price].map(String),
      'no',
      FIR.constructor,
      String(FIR.id2),
    ])
    t.same(await cellsOf(plants, 8n), ['Acer', 'No tag', '', '', '', '', '', '', '', ''])
    t.equal(await plants.row(7n).locator('time').getAttribute('datetime'), FIR.planted)
    const link = plants.row(7n).getByRole('link', { name: FIR.photo })
    t.equal(await link.getAttribute('href'), FIR.photo)
    t.equal(await link.getAttribute('rel'), 'noreferrer')
    t.same(await problemsOf(plants.page), [])
    t.same(plants.complaints, [])
  })

  t.test('each field is edited with a control that suits it', async (t) => {
    const service = await start(t)
    const plants = await open(t, service.url, { ...DESK, token: service.token })
    await plants.button('Edit Abies').click()
    const editor = plants.page.locator('form.editor')
    const field = (label: string) => editor.getByLabel(label, { exact: true })
    await field('Height in cm').fill('10001')
    await plants.button('Save').click()
    await plants.shows('Height in cm must be a whole number from 0 to 10000.')
    t.ok(await field('Height in cm').evaluate((element) => element.matches(':focus')))
    t.same(await problemsOf(plants.page), [])
    await field('Height in cm').fill('125')
    await field('Planted on').fill('2026-11-25')
    await field('light').selectOption('sun')
    await field('photo').fill('javascript:alert(1)')
    await field('price').fill('')
    await field('In stock').selectOption('Yes')
    await field('constructor').fill('L.')
    await field('id2').fill('9223372036854775807')
    await field('id2').press('Enter')
    await editor.waitFor({ state: 'detached' })
    const { price: _price, ...others } = FIR
    t.strictSame((await clientOf(service).getPlant(7n)).plant, {
      ...others,
      height: 125,
      planted: '2026-11-25',
      light: 'sun',
      photo: 'javascript:alert(1)',
      inStock: true,
      constructor: 'L.',
      id2: 2n ** 63n - 1n,
    })
    t.match((await cellsOf(plants, 7n))[7], '✓')
    t.equal(await plants.row(7n).getByRole('link').count(), 0)

    t.same(plants.complaints, [])
  })

  t.test('a phone shows them in the form, and a reader in the details', async (t) => {
    const service = await start(t)
    const token = await service.issueToken('reader', ['read'])
    const plants = await open(t, service.url, { ...PHONE, ...CALM, token })
    await plants.button('View Abies').click()
    const details = plants.page.getByRole('region', { name: 'Plant 7' })
    t.match(await details.innerText(), /Height in cm\n120\n.*In stock\nno\n/s)
    t.match(await details.innerText(), String(FIR.id2))
    t.same(await problemsOf(plants.page), [])
  })

  t.test(
    'with a hundred fields, the first ones are columns, and all are in the form',
    async (t) => {
      const fields = Array.from({ length: OWN_FIELDS_MAX }, (_, index) => ({
        name: `field ${index}`,
        schema: { type: 'string' } as const,
      }))
      const service = await startService(t, { fields })
      const values = Object.fromEntries(fields.map(({ name }) => [name, `${name} `.repeat(9)]))
      const many = Array.from({ length: 60 }, (_, index) => ({
        ...values,
        id: BigInt(index),
        name: `Abies ${index}`,
      }))
      await clientOf(service).createPlants(many)
      const plants = await open(t, service.url, { ...DESK, token: service.token })
      await plants.row(0n).waitFor()
      const edit = plants.button('Edit Abies 0')
      // The buttons stay in view while the columns scroll.
      for (const left of [0, 1e6]) {
        await plants.page.locator('.table').evaluate((table, left) => {
          table.scrollLeft = left
        }, left)
        const box = await edit.boundingBox()
        t.ok(box && box.x + box.width <= DESK.viewport.width)
      }
      t.ok(await plants.row(0n).getByText('field 19').isVisible())
      await edit.click()
      await plants.page.getByLabel('field 99').fill('changed')
      const editor = await plants.page.locator('form.editor').boundingBox()
      t.ok(editor && editor.x >= 0 && editor.x + editor.width <= DESK.viewport.width)
      t.same(await problemsOf(plants.page), [])
      await plants.button('Save').click()
      await plants.page.locator('form.editor').waitFor({ state: 'detached' })
      t.match((await clientOf(service).getPlant(0n)).plant, { ...values, 'field 99': 'changed' })
      t.same(plants.complaints, [])
    },
  )
})
