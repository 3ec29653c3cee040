/** Signing in to the page, and what each token permits. */
import t from 'tap'
import { AccessTokens } from '../../service/access-tokens.ts'
import { type Service, startService } from '../helpers/service.ts'
import { testInBrowser } from './plants-page.ts'
import { startProxy } from './prefix-proxy.ts'

testInBrowser('tokens in the page', (open) => {
  let service: Service
  t.before(async () => {
    service = await startService(t)
    await service.store.importPlants([{ id: 4n, name: 'Abies alba', tag: 'Tree' }], 'stop')
  })

  t.test('the page asks for a token, and keeps it for the tab', async (t) => {
    const plants = await open(t, service.url)
    const { page } = plants
    await plants.shows('paste an access token')
    await page.getByLabel('Token').fill('wrong')
    await plants.button('Continue').click()
    await plants.shows('The token is unknown, expired or revoked.')
    await plants.signIn(`Bearer ${service.token} `)
    await plants.rows('Abies alba').waitFor()
    await page.reload()
    await plants.rows('Abies alba').waitFor()
    const other = await page.context().newPage()
    await other.goto(`${service.url}/`)
    await other.getByLabel('Token').waitFor()
    await plants.button('Sign out').click()
    await page.reload()
    await page.getByLabel('Token').waitFor()
    t.same(plants.complaints, [])
  })

  t.test('the page links to the docs if there are any', async (t) => {
    for (const docs of [true, false]) {
      const { url } = await startService(t, { config: { docs } })
      const { page } = await open(t, url)
      await page.getByLabel('Token').waitFor()
      t.equal(await page.getByRole('link', { name: 'API docs' }).count(), docs ? 1 : 0)
    }
  })

  t.test('the page keeps the token in the browser if asked to', async (t) => {
    const plants = await open(t, service.url)
    await plants.page.getByLabel('Keep it in this browser').check()
    await plants.signIn(service.token)
    const other = await plants.page.context().newPage()
    await other.goto(`${service.url}/`)
    await other.getByRole('button', { name: 'Sign out' }).click()
    await other.reload()
    await other.getByLabel('Token').waitFor()
  })

  t.test('the page says whose token it is, and what it permits', async (t) => {
    const token = await service.issueToken('greenhouse', ['read', 'write'], 86_400_000)
    const plants = await open(t, service.url, { token, locale: 'en-GB' })
    const text = await plants.page.locator('.token').innerText()
    t.match(text, /^greenhouse\n+Read and write, until \d+ \w+ \d{4}$/)
  })

  t.test('a token that can only read is offered no change', async (t) => {
    const token = await service.issueToken('reader', ['read'])
    const plants = await open(t, service.url, { token })
    await plants.rows('Abies alba').focus()
    await plants.shows('Read only')
    t.equal(await plants.button(/Add|Edit|Delete|Import/).count(), 0)
    await plants.page.keyboard.press('Delete')
    await plants.page.keyboard.press('Enter')
    t.equal(await plants.page.getByLabel('Name', { exact: true }).inputValue(), 'Abies alba')
    t.equal(await plants.page.getByLabel('Name', { exact: true }).isEditable(), false)
    await plants.page.keyboard.press('Escape')
    await plants.page.locator('.plant-row:focus').waitFor()
    t.same(plants.complaints, [])
  })

  t.test('a token that can only write can add plants', async (t) => {
    const token = await service.issueToken('writer', ['write'])
    const plants = await open(t, service.url, { token })
    await plants.shows('You are not permitted to read plants.')
    await plants.button('Add plant').click()
    await plants.type({ id: '5', name: 'Acer', tag: 'Tree' })
    await plants.button('Save').click()
    await plants.shows('Saved Acer.')
    t.match(await service.stored(5n), { name: 'Acer', tag: 'Tree' })
    await plants.button('Add plant').click()
    await plants.type({ id: '4', name: 'Acer' })
    await plants.button('Save').click()
    await plants.shows('Plant 4 already exists with different content.')
    t.same(plants.complaints, [])
  })

  t.test('if the token is revoked, nothing that was typed is lost', async (t) => {
    const token = await service.issueToken('revoked', ['read', 'write'])
    const plants = await open(t, service.url, { token })
    await plants.edit('Abies alba', { name: 'Abies nigra' })
    await new AccessTokens(service.store).revoke('revoked')
    await plants.shows('the token is no longer valid')
    await plants.shows('1 change is not saved')
    await plants.signIn(service.token)
    await plants.page.getByLabel('Name', { exact: true }).press('Enter')
    await plants.rows('Abies nigra').waitFor()
    t.match(await service.stored(4n), { name: 'Abies nigra' })
  })

  t.test('the page works behind a proxy that strips a prefix', async (t) => {
    const url = await startProxy(t, service.port, '/some/prefix')
    const plants = await open(t, url, { token: service.token })
    await plants.rows('Abies').waitFor()
    await plants.button('Add plant').click()
    await plants.type({ id: '77', name: 'Acer' })
    await plants.button('Save').click()
    await plants.rows('77').waitFor()
    t.equal(plants.page.url(), `${url}/`)
    t.same(plants.complaints, [])
  })
})
