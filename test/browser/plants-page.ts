import axe, { type AxeResults } from 'axe-core'
import type { Browser, Locator, Page } from 'playwright-core'
import type { Test } from 'tap'
import { findBrowser, launch } from '../../tools/browser/chromium.ts'
import { type Viewer, type Visit, visit, visitInTab } from '../../tools/browser/visit.ts'

/** No npm package contains a browser. */
const MISSING = "requires a browser: Debian's chromium, or the program that CHROMIUM names"

export const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }

export const SMALL_PHONE = { ...PHONE, viewport: { width: 360, height: 740 } }

/** Without transitions, so that contrast is measured on final colors. */
export const CALM = { reducedMotion: 'reduce' } as const

export interface Person extends Viewer {
  /** If given, the person signs in with it. */
  readonly token?: string
}

/** Opens the page at a service's URL, which has no trailing slash. It closes when the test ends. */
export type Open = (t: Test, url: string, person?: Person) => Promise<PlantsPage>

/**
 * Runs a file's tests in a browser, if there is one.
 *
 * @param t the file's
 * @param tests gets the browser once its tests run
 */
export function testInBrowser(
  t: Test,
  what: string,
  tests: (open: Open, browser: () => Browser) => void,
): void {
  const program = findBrowser()
  if (program === undefined) {
    t.test(what, { skip: MISSING }, async () => {})
    return
  }
  let browser: Browser
  t.before(async () => {
    browser = await launch(program)
    t.teardown(() => browser.close())
  })
  tests(
    (t, url, person) => PlantsPage.open(t, browser, url, person),
    () => browser,
  )
}

/** What is wrong with a page for some people. */
export async function problemsOf(page: Page): Promise<readonly string[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe.source)
  // Everything else that axe has found would be sent too.
  const violations = await page.evaluate<AxeResults['violations']>(
    "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)",
  )
  const found = violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  )
  const hidden = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
  return hidden === 0 ? found : [...found, `${hidden} pixels wider than the screen`]
}

/** The page at `/`, as a person uses it. */
export class PlantsPage {
  readonly page: Page
  /** Problems a person would not see. */
  readonly complaints: readonly string[]

  private constructor({ page, complaints }: Visit) {
    this.page = page
    this.complaints = complaints
  }

  /** Opens the page with an empty profile. It closes when the test ends. */
  static async open(
    t: Test,
    browser: Browser,
    url: string,
    { token, ...viewer }: Person = {},
  ): Promise<PlantsPage> {
    const plants = new PlantsPage(await visit(browser, `${url}/`, viewer))
    t.teardown(() => plants.page.context().close())
    if (token !== undefined) await plants.signIn(token)
    return plants
  }

  /** Opens the page in another tab. */
  async openTab(): Promise<PlantsPage> {
    return new PlantsPage(await visitInTab(this.page.context(), this.page.url()))
  }

  /** Opens the page in another tab that has a copy of this one's session storage. */
  async duplicate(): Promise<PlantsPage> {
    await this.#copyStorage()
    return this.openTab()
  }

  /** Makes tabs of this browser begin with the session storage of this tab. */
  async #copyStorage(): Promise<void> {
    const storage = await this.page.evaluate<string>('JSON.stringify(sessionStorage)')
    await this.page
      .context()
      .addInitScript(`if (sessionStorage.length === 0) Object.assign(sessionStorage, ${storage})`)
  }

  /**
   * Crashes the tab, and opens the page in another one that has its session storage, because Playwright cannot reload
   * the same one.
   */
  async crash(): Promise<PlantsPage> {
    const context = this.page.context()
    await this.#copyStorage()
    const devtools = await context.newCDPSession(this.page)
    // It is not answered.
    devtools.send('Page.crash').catch(() => {})
    await this.page.waitForEvent('crash')
    return this.openTab()
  }

  /** Resolves once the page shows what the token permits. */
  async signIn(token: string): Promise<void> {
    await this.page.getByLabel('Token').fill(token)
    await this.button('Continue').click()
    await this.button('Sign out').waitFor()
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole('button', { name, exact: true })
  }

  /** The rows of the table that contain a string, without its header. */
  rows(text: string | RegExp = ''): Locator {
    return this.page.locator('.plant-row[data-id]').filter({ hasText: text })
  }

  /** The row of a plant. */
  row(id: bigint): Locator {
    return this.page.locator(`.plant-row[data-id="${id}"]`)
  }

  /** Resolves once the page contains a string. */
  async shows(text: string | RegExp): Promise<void> {
    await this.page.getByText(text).first().waitFor()
  }

  /** Chooses an item of the menu. */
  async choose(item: string): Promise<void> {
    await this.button('More').click()
    await this.page.locator('.menu').getByRole('button', { name: item, exact: true }).click()
  }

  /** A button that shows a condition or the order, and removes it. */
  chip(text: string): Locator {
    return this.button(`${text} (remove)`)
  }

  /** Opens the editor of a plant, and types into it. */
  async edit(
    name: string,
    typed: { readonly name?: string; readonly tag?: string },
  ): Promise<void> {
    await this.button(`Edit ${name}`).click()
    await this.type(typed)
  }

  /** Types into the open editor. */
  async type(typed: {
    readonly id?: string
    readonly name?: string
    readonly tag?: string
  }): Promise<void> {
    const editor = this.page.locator('form.editor')
    for (const [label, text] of [
      ['Id', typed.id],
      ['Name', typed.name],
      ['Tag', typed.tag],
    ] as const) {
      if (text !== undefined) await editor.getByLabel(label, { exact: true }).fill(text)
    }
  }
}

export function dialogOf({ page }: PlantsPage): Locator {
  return page.getByRole('dialog')
}

/** Resolves once the dialog has a title. */
export function titled({ page }: PlantsPage, name: string): Promise<void> {
  return page.getByRole('dialog', { name, exact: true }).waitFor()
}

/** What a run has done so far, such as `Changed 12`. */
export async function counts(plants: PlantsPage): Promise<string[]> {
  const counts = await dialogOf(plants).locator('.counts div').allInnerTexts()
  return counts.map((count) => count.replaceAll(/\s+/g, ' '))
}

/** The message about the latest change, which offers to undo it. Without one, its region is for screen readers only. */
export function messageOf({ page }: PlantsPage): Locator {
  return page.getByRole('region', { name: 'Latest changes' }).and(page.locator('.latest'))
}

/** Opens the dialog that adds a condition, and chooses one. Without own fields, there is only the tag. */
export async function beginCondition(
  plants: PlantsPage,
  condition: string,
  field?: string,
): Promise<void> {
  await plants.button('Filter…').click()
  await titled(plants, 'Add a condition')
  const dialog = dialogOf(plants)
  if (field !== undefined) await dialog.getByLabel('Field').selectOption(field)
  await dialog.getByLabel('Condition').selectOption(condition)
}
