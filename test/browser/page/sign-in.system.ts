/** Signing in to the page with an OpenID Connect issuer, and staying signed in. */

import t, { type Test } from 'tap'
import { type Issuer, startIssuer } from '../../helpers/network/issuer.ts'
import { type BrowserApp, PAGE_CLIENT } from '../../helpers/network/issuer-people.ts'
import { importPlants } from '../../helpers/plants/import-plants.ts'
import { until } from '../../helpers/processes/until.ts'
import { type Service, startService } from '../../helpers/service/service.ts'
import { findIllegible } from '../legibility.ts'
import {
  CALM,
  type Open,
  type Person,
  PHONE,
  type PlantsPage,
  problemsOf,
  testInBrowser,
} from '../plants-page.ts'
import { startProxy } from '../prefix-proxy.ts'

/** The lifetime of tokens that expire while the page is open. */
const SHORT = { lifetimeSeconds: 6 }

interface Setting {
  readonly issuer: Issuer
  readonly service: Service
}

/** Starts an issuer, and a service with a plant. */
async function start(t: Test, app: Partial<BrowserApp> = {}): Promise<Setting> {
  const issuer = await startIssuer(t)
  const service = await startService(t, { config: { ...issuer.config, ...PAGE_CLIENT } })
  await issuer.register({ url: `${service.url}/`, ...app })
  await importPlants(service.store, [{ id: 4n, name: 'Abies alba', tag: 'Tree' }], 'stop')
  return { issuer, service }
}

/** Signs in on the issuer's page. */
async function authenticate({ page }: PlantsPage, name = 'ada'): Promise<void> {
  await page.getByLabel('Name').fill(name)
  await page.getByRole('button', { name: 'Continue' }).click()
}

/** Opens the page, and signs in. Resolves once the page says who that is. */
async function openAs(
  t: Test,
  open: Open,
  { service: { url } }: { readonly service: { readonly url: string } },
  name = 'ada',
  reader: Person = {},
): Promise<PlantsPage> {
  const plants = await open(t, url, reader)
  await plants.button('Sign in').click()
  await authenticate(plants, name)
  await plants.shows(`${name}'s name`)
  return plants
}

/** Problems other than requests to the issuer. */
function complaints({ complaints }: PlantsPage, { issuer }: Setting): readonly string[] {
  return complaints.filter((each) => !each.startsWith(`asked: ${issuer.url}/`))
}

/** Ends the person's session at the issuer in another tab. */
async function signOutAtIssuer({ page }: PlantsPage, issuer: Issuer): Promise<void> {
  const tab = await page.context().newPage()
  await tab.goto(`${issuer.url}/session/end`)
  await tab.getByRole('button', { name: 'Sign out' }).click()
  await tab.waitForLoadState()
  await tab.close()
}

/** Counts the requests for tokens. */
function countTokens(issuer: Issuer): { count: number } {
  const requests = { count: 0 }
  issuer.fault = ({ url }) => {
    if (url === '/token') requests.count++
    return false
  }
  return requests
}

testInBrowser(t, 'signing in to the page', (open) => {
  t.test('a person signs in, and the page says who it is', async (t) => {
    const setting = await start(t)
    const plants = await open(t, setting.service.url)
    const { page } = plants
    await page.goto(`${setting.service.url}/#tag=Tree`)
    await plants.button('Sign in').click()
    await authenticate(plants)
    await plants.rows('Abies alba').waitFor()
    t.match(await page.locator('p.person').innerText(), /^ada's name\s*Read and write$/)
    t.equal(page.url(), `${setting.service.url}/#tag=Tree`)
    const names = '[Object.keys(sessionStorage).sort(), Object.keys(localStorage)]'
    const stored = [['plant-store-signed-in', 'plant-store-tab'], []]
    t.same(await page.evaluate(names), stored, 'no token')
    await plants.edit('Abies alba', { name: 'Abies nigra' })
    await plants.button('Save').click()
    await plants.rows('Abies nigra').waitFor()
    t.same(complaints(plants, setting), [])
  })

  t.test('a person without scopes is offered nothing', async (t) => {
    const setting = await start(t)
    const plants = await openAs(t, open, setting, 'stranger')
    await plants.shows('You are not permitted to read or change plants.')
    t.equal(await plants.button(/Add|Edit|Delete|Import|Export|More/).count(), 0)
    await plants.button('Sign out').waitFor()
    t.same(complaints(plants, setting), [])
  })

  t.test(
    'tokens are replaced unnoticed, and while the issuer is down, the page waits',
    async (t) => {
      const setting = await start(t, SHORT)
      const plants = await openAs(t, open, setting)
      const tokens = countTokens(setting.issuer)
      let losses = 0
      await plants.page.exposeFunction('lost', () => losses++)
      await plants.page.evaluate(`new MutationObserver(() => {
      if (!document.querySelector('.feed-state.live')) lost()
    }).observe(document.body, { childList: true, subtree: true, attributes: true })`)
      await until('two tokens were replaced', () => tokens.count >= 2, 60_000)
      t.equal(losses, 0)
      t.same(complaints(plants, setting), [])

      await plants.edit('Abies alba', { name: 'Abies nigra' })
      setting.issuer.fault = (request) => Boolean(request.socket.destroy())
      await plants.shows(
        /Your session cannot be extended, because 127\.0\.0\.1:\d+ is unavailable\./,
      )
      await plants.button('Save').click()
      await plants.shows('Not saved. Your session cannot be extended')
      setting.issuer.fault = () => false
      await plants.rows('Abies nigra').waitFor()
    },
  )

  t.test('when the page is loaded again, the person is still signed in', async (t) => {
    const setting = await start(t)
    const plants = await openAs(t, open, setting)
    for (let visit = 0; visit < 2; visit++) {
      await plants.page.reload()
      await plants.rows('Abies alba').waitFor()
    }
    const other = await plants.page.context().newPage()
    await other.goto(`${setting.service.url}/`)
    await other.getByRole('button', { name: 'Sign in' }).waitFor()
    setting.issuer.fault = (request) => Boolean(request.socket.destroy())
    await plants.page.reload()
    await plants.shows(/127\.0\.0\.1:\d+ cannot be reached/)
    setting.issuer.fault = () => false
    await plants.page.reload()
    t.equal(await plants.page.getByText('cannot be reached').count(), 0)
    await plants.button('Sign in').click()
    await plants.rows('Abies alba').waitFor()
  })

  t.test('when the session ends, nothing that was typed is lost', async (t) => {
    const setting = await start(t, SHORT)
    const plants = await openAs(t, open, setting)
    const { page } = plants
    const devtools = await page.context().newCDPSession(page)
    await plants.edit('Abies alba', { name: 'Abies nigra' })
    await signOutAtIssuer(plants, setting.issuer)
    await plants.shows('You are signed out, because your session has ended.')
    await plants.shows('1 change is not saved')
    await plants.button('Sign in').click()
    await page.getByLabel('Name').waitFor()
    await page.goBack()
    await plants.shows('1 change is not saved')
    const asked = Promise.withResolvers<void>()
    setting.issuer.fault = ({ url }) => {
      if (!url?.startsWith('/auth?')) return false
      asked.resolve()
      return true
    }
    await plants.button('Sign in').click({ noWaitAfter: true })
    await asked.promise
    // As the Esc key does.
    await devtools.send('Page.stopLoading')
    await plants.shows('1 change is not saved')
    const question = page.waitForEvent('dialog')
    const left = page.goto('about:blank').catch(() => {})
    t.equal((await question).type(), 'beforeunload', 'no copy is taken for granted')
    await (await question).dismiss()
    await left

    setting.issuer.fault = () => false
    await plants.button('Sign in').click()
    await authenticate(plants)
    const name = page.getByLabel('Name', { exact: true })
    t.equal(await name.inputValue(), 'Abies nigra')
    await name.press('Enter')
    await plants.rows('Abies nigra').waitFor()
    await page.reload()
    await plants.rows('Abies nigra').waitFor()
    t.equal(await page.getByText('not saved').count(), 0, 'the copy is forgotten')
  })

  t.test('the page says if it cannot sign the person out at the issuer', async (t) => {
    const setting = await start(t, { signsOut: false })
    const plants = await openAs(t, open, setting)
    await plants.button('Sign out').click()
    await plants.shows(/You are signed out here, but may still be signed in at 127\.0\.0\.1:\d+\./)
    await plants.page.reload()
    await plants.button('Sign in').waitFor()
  })

  t.test('a person signs in and out behind a proxy that strips a prefix', async (t) => {
    const setting = await start(t)
    const url = await startProxy(t, setting.service.port, '/some/prefix')
    await setting.issuer.register({ url: `${url}/` })
    const plants = await openAs(t, open, { service: { url } })
    await plants.rows('Abies alba').waitFor()
    t.equal(plants.page.url(), `${url}/`)
    await plants.button('Sign out').click()
    await plants.page.waitForURL(`${setting.issuer.url}/session/end**`)
    t.notMatch(plants.page.url(), /token/)
    await plants.button('Sign out').click()
    await plants.button('Sign in').waitFor()
    t.equal(plants.page.url(), `${url}/`)
    t.same(complaints(plants, setting), [])
  })

  t.test('axe finds nothing on a phone in dark mode', async (t) => {
    const setting = await start(t)
    const person = { ...CALM, ...PHONE, colorScheme: 'dark' } as const
    const plants = await open(t, setting.service.url, person)
    await plants.page.getByText('Use an access token instead').click()
    t.same(await findViolations(plants), [])
    await plants.signIn(setting.service.token)
    await plants.button('Sign out').click()
    await plants.button('Sign in').click()
    await plants.page.getByRole('button', { name: 'Cancel' }).click()
    await plants.shows('Signing in was canceled.')
    t.equal(plants.page.url(), `${setting.service.url}/`)
    t.same(await findViolations(plants), [])
    await plants.button('Sign in').click()
    await authenticate(plants)
    await plants.rows('Abies alba').waitFor()
    t.same(await findViolations(plants), [])
    t.same(complaints(plants, setting), [])
  })
})

async function findViolations({ page }: PlantsPage): Promise<unknown[]> {
  return [...(await problemsOf(page)), ...(await findIllegible(page, 'body'))]
}
