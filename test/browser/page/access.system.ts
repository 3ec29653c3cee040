/** Signing in to the page, and what each token permits. */

import type { Route } from 'playwright-core'
import t, { type Test } from 'tap'
import { restrict } from '../../../service/restriction.ts'
import { TokenStore } from '../../../service/token-store.ts'
import { AccessTokens } from '../../../src/auth/access-tokens.ts'
import { importPlants } from '../../helpers/plants/import-plants.ts'
import { createIn } from '../../helpers/plants/single-changes.ts'
import { CONSISTENT, makeMirror } from '../../helpers/service/mirrors.ts'
import { type Service, startService } from '../../helpers/service/service.ts'
import { type PlantsPage, testInBrowser } from '../plants-page.ts'

testInBrowser(t, 'tokens in the page', (open) => {
  let service: Service
  t.before(async () => {
    service = await startService(t)
    await importPlants(service.store, [{ id: 4n, name: 'Abies alba', tag: 'Tree' }], 'stop')
  })

  t.test('the page asks for a token, and keeps it for the tab or in the browser', async (t) => {
    const plants = await open(t, service.url)
    const { page } = plants
    await plants.shows('paste an access token')
    await page.locator('[name=token]:focus').waitFor()
    await page.keyboard.type('wrong')
    await plants.button('Continue').click()
    await plants.shows('The token is unknown, expired or revoked.')
    await page.locator('[name=token]:focus').waitFor()
    await page.keyboard.type('/var/lib/plants/access-token')
    await page.keyboard.press('Enter')
    await plants.shows('This looks like the path of a file.')
    await plants.signIn(`Authorization: Bearer "${service.token}\u200b" `)
    await plants.rows('Abies alba').waitFor()
    await page.reload()
    await plants.rows('Abies alba').waitFor()
    await page.route('**/token', (route) => route.fulfill({ status: 404 }), { times: 1 })
    await page.reload()
    await plants.shows('responded with status 404')
    await plants.button(/^Try again/).click()
    await plants.rows('Abies alba').waitFor()
    await plants.button('Sign out').click()
    await page.getByLabel('Keep it in this browser').check()
    await plants.signIn(service.token)
    const other = await page.context().newPage()
    await other.goto(`${service.url}/`)
    await other.getByRole('button', { name: 'Sign out' }).click()
    await other.reload()
    await other.getByLabel('Token').waitFor()
    t.same(plants.complaints, [])
  })

  t.test('the page links to the docs and the guides if there are any', async (t) => {
    for (const docs of [true, false]) {
      const { url, token } = await startService(t, { config: { docs } })
      const { page } = await open(t, url, { token })
      for (const name of ['Guides', 'API docs']) {
        t.equal(await page.getByRole('link', { name }).count(), docs ? 1 : 0, name)
      }
    }
  })

  t.test('the token that the environment sets belongs to the operator', async (t) => {
    const token = await service.issueToken('PLANT_STORE_TOKEN', ['read', 'write'])
    const { page } = await open(t, service.url, { token })
    t.match(await page.locator('p.person').innerText(), /^Operator\n*Read and write$/)
  })

  t.test('a token that can only read is offered no change', async (t) => {
    const token = await service.issueToken('reader', ['read'], 86_400_000)
    const plants = await open(t, service.url, { token, locale: 'en-GB' })
    await plants.rows('Abies alba').focus()
    const text = await plants.page.locator('p.person').innerText()
    t.match(text, /^reader\n*Read only, until \d+ \w+ \d{4}$/)
    await assertNoChange(t, plants)
    await plants.rows('Abies alba').focus()
    await plants.page.keyboard.press('ControlOrMeta+a')
    t.equal(await plants.page.getByRole('checkbox').count(), 0)
    t.equal(await plants.page.locator('[aria-selected], [aria-multiselectable]').count(), 0)
    await plants.page.keyboard.press('Delete')
    await plants.page.keyboard.press('Enter')
    t.equal(await plants.page.getByLabel('Name', { exact: true }).inputValue(), 'Abies alba')
    t.equal(await plants.page.getByLabel('Name', { exact: true }).isEditable(), false)
    await service.call({ method: 'PUT', path: '/plants/4', body: { name: 'Abies nigra' } })
    await plants.shows('Tag: No tag')
    t.equal(await plants.page.getByLabel('Name', { exact: true }).inputValue(), 'Abies nigra')
    await plants.page.keyboard.press('Escape')
    await plants.page.locator('.plant-row:focus').waitFor()

    await importPlants(service.store, [{ id: 6n, name: 'Acer' }], 'stop')
    await plants.button('View Abies nigra').click()
    await plants.page.mouse.move(0, 0)
    await service.call({ method: 'DELETE', path: '/plants/4' })
    await plants.page.locator('.editor').waitFor({ state: 'detached' })
    await plants.row(4n).waitFor({ state: 'detached' })
    t.equal((await plants.row(6n).boundingBox())?.y, await topOf(plants))
    await importPlants(service.store, [{ id: 4n, name: 'Abies alba', tag: 'Tree' }], 'replace')
    t.same(plants.complaints, [])
  })

  t.test('on a mirror and a frozen store, the page offers no change and says why', async (t) => {
    const fir = { id: 4n, name: 'Abies alba' }
    const mirror = await startService(t)
    await makeMirror(mirror.store, CONSISTENT, [fir])
    const onMirror = await open(t, mirror.url, { token: mirror.token })
    const why = 'This service is a read-only mirror: send changes to https://plants.example.'
    await offersNoChange(t, onMirror, why)
    await restrict(mirror.store, { expected: CONSISTENT, next: undefined })
    await onMirror.page.reload()
    await onMirror.button('Edit Abies alba').waitFor()
    t.equal(await onMirror.page.getByText(why).count(), 0)

    const frozen = await startService(t)
    await createIn(frozen.store, fir)
    const earlier = await open(t, frozen.url, { token: frozen.token })
    await earlier.edit('Abies alba', { name: 'Abies nigra' })
    await restrict(frozen.store, { expected: undefined, next: 'frozen' })
    await earlier.button('Save').click()
    await earlier.shows(/changes are frozen while the plants move to another database\./)
    await earlier.button('Send again').waitFor()
    const later = await open(t, frozen.url, { token: frozen.token })
    await offersNoChange(t, later, 'Changes are frozen while the plants move to another database.')
  })

  t.test('a token that can only write can add plants', async (t) => {
    const token = await service.issueToken('writer', ['write'])
    const plants = await open(t, service.url, { token })
    await plants.shows('You are not permitted to read plants.')
    await plants.button('Add plant').click()
    await plants.type({ id: '5', name: 'Acer', tag: 'Tree' })
    await plants.button('Save').click()
    await plants.shows('Added Acer')
    t.match(await service.stored(5n), { name: 'Acer', tag: 'Tree' })
    await plants.button('Add plant').click()
    await plants.type({ id: '4', name: 'Acer' })
    await plants.button('Save').click()
    await plants.shows('Plant 4 already exists with different content.')
    t.same(plants.complaints, [])
  })

  t.test('if the token is revoked, a new one of that name finds what was typed', async (t) => {
    const tokens = new AccessTokens(new TokenStore(service.store))
    const token = await service.issueToken('ada', ['read', 'write'])
    const plants = await open(t, service.url, { token })
    await plants.edit('Abies alba', { name: 'Abies nigra' })
    await tokens.revoke('ada')
    await plants.shows('the token is no longer valid')
    await plants.shows('1 change is not saved')
    await plants.shows('sign in again as ada')
    await plants.signIn(await service.issueToken('ada', ['read']))
    await plants.shows('You are not permitted to change plants.')
    t.equal(await plants.page.getByRole('button', { name: /Save|Send|Continue/ }).count(), 0)
    plants.page.once('dialog', (dialog) => dialog.dismiss())
    await plants.button('Sign out').click()
    await tokens.revoke('ada')
    await plants.shows('the token is no longer valid')
    await plants.page.reload()
    await plants.shows('sign in again as ada')
    await plants.signIn(await service.issueToken('ada', ['read', 'write']))
    await plants.button('Continue').click()
    await plants.page.getByLabel('Name', { exact: true }).press('Enter')
    await plants.rows('Abies nigra').waitFor()
    t.match(await service.stored(4n), { name: 'Abies nigra' })
    await plants.button('Undo').click()
    await plants.rows('Abies alba').waitFor()
  })

  t.test('if the token is revoked, another one does not find what was typed', async (t) => {
    const tokens = new AccessTokens(new TokenStore(service.store))
    for (const isReloaded of [false, true]) {
      const token = await service.issueToken('revoked', ['read', 'write'])
      const plants = await open(t, service.url, { token })
      const { page } = plants
      await service.call({ body: { id: 9, name: 'Quercus' } })
      await plants.button('Delete Quercus').click()
      await plants.button('Undo').waitFor()
      await plants.edit('Abies alba', { name: 'Abies nigra' })
      await plants.button('Add plant').click()
      await plants.type({ id: '10', name: 'Alnus' })
      await tokens.revoke('revoked')
      await plants.shows('2 changes are not saved')
      if (isReloaded) {
        await page.reload()
        await plants.shows('2 changes are not saved')
      }
      await plants.signIn(service.token)
      await plants.rows('Abies alba').waitFor()
      t.equal(await page.locator('form.editor, .tray, .latest').count(), 0)
      await page.reload()
      await plants.rows('Abies alba').waitFor()
      t.equal(await page.locator('form.editor, .tray, .latest').count(), 0)
      await plants.button('Sign out').click()
      await plants.signIn(await service.issueToken('revoked', ['read', 'write']))
      await plants.rows('Abies alba').waitFor()
      t.equal(await page.locator('form.editor, .tray, .latest').count(), 0, 'it is deleted')
      await tokens.revoke('revoked')
      await plants.shows('the token is no longer valid')
      t.equal(await page.getByText('not saved').count(), 0)
    }
    t.match(await service.stored(4n), { name: 'Abies alba' })
  })

  t.test('a late response to an earlier session does not end the current one', async (t) => {
    const token = await service.issueToken('earlier', ['read', 'write'])
    const plants = await open(t, service.url, { token })
    const { page } = plants
    await plants.rows().first().waitFor()
    const arrived = Promise.withResolvers<() => Promise<void>>()
    const hold = (route: Route) => arrived.resolve(() => route.continue())
    await page.route('**/plants', hold, { times: 1 })
    await plants.rows().first().press('Delete')
    const proceed = await arrived.promise
    page.once('dialog', (dialog) => dialog.accept())
    await plants.button('Sign out').click()
    await new AccessTokens(new TokenStore(service.store)).revoke('earlier')
    await plants.signIn(service.token)
    const late = page.waitForResponse((response) => response.status() === 401)
    await proceed()
    await late
    await page.reload()
    await plants.rows().first().waitFor()
  })
})

async function offersNoChange(t: Test, plants: PlantsPage, why: string): Promise<void> {
  await plants.shows(why)
  await plants.button('View Abies alba').waitFor()
  await assertNoChange(t, plants)
  await plants.rows().first().press('Delete')
  t.equal(await plants.page.locator('.tray').count(), 0)
  t.same(plants.complaints, [])
}

/** Asserts that neither a button nor an item of the menu changes plants. */
async function assertNoChange(t: Test, plants: PlantsPage): Promise<void> {
  await plants.button('More').click()
  await plants.button('Export…').waitFor()
  t.equal(await plants.button(/Add|Edit|Delete|Import|Rename/).count(), 0)
  await plants.page.keyboard.press('Escape')
}

/** Where the first row of the table is. */
async function topOf({ page }: PlantsPage): Promise<number> {
  return page.locator('.rows').evaluate((element) => element.getBoundingClientRect().top)
}
