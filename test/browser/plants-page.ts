import type { Browser, Locator, Page } from 'playwright-core'
import type { Test } from 'tap'
import { type Reader, type Visit, visit } from '../../tools/browser/visit.ts'

/** The page at `/`, as a person uses it. */
export class PlantsPage {
  readonly page: Page
  /** Problems a person would not see. */
  readonly complaints: readonly string[]

  private constructor({ page, complaints }: Visit) {
    this.page = page
    this.complaints = complaints
  }

  /**
   * Opens the page with an empty profile. It closes when the test ends.
   *
   * @param url the URL of the service, without a trailing slash
   * @param token if given, signs in with it
   */
  static async open(
    t: Test,
    browser: Browser,
    url: string,
    { token, ...reader }: Reader & { readonly token?: string } = {},
  ): Promise<PlantsPage> {
    const plants = new PlantsPage(await visit(browser, `${url}/`, reader))
    t.teardown(() => plants.page.context().close())
    if (token !== undefined) await plants.signIn(token)
    return plants
  }

  /** Resolves once the page shows what the token permits. */
  async signIn(token: string): Promise<void> {
    await this.page.getByLabel('Token').fill(token)
    await this.page.getByRole('button', { name: 'Continue' }).click()
    await this.page.getByRole('button', { name: 'Sign out' }).waitFor()
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole('button', { name })
  }

  /** The rows of the table that contain a text, without its header. */
  rows(text: string | RegExp = ''): Locator {
    return this.page.locator('[role=row][aria-rowindex]').filter({ hasText: text })
  }
}
