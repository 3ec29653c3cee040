import type { Browser, Locator, Page } from 'playwright-core'
import { type Viewer, type Visit, visit } from './visit.ts'

/** What Swagger UI shows after a request was executed. */
export interface Shown {
  readonly status: string
  readonly headers: string
  /** Empty if there is none. */
  readonly body: string
  /** The request as a curl command. */
  readonly curl: string
}

/** The docs as a first-time reader uses them. */
export class DocsPage {
  readonly page: Page
  readonly complaints: readonly string[]

  private constructor({ page, complaints }: Visit) {
    this.page = page
    this.complaints = complaints
  }

  /** @param url the URL of the docs, or one that redirects there */
  static async open(browser: Browser, url: string, viewer: Viewer = {}): Promise<DocsPage> {
    const docs = new DocsPage(await visit(browser, url, viewer))
    await docs.#loaded()
    return docs
  }

  async reload(): Promise<void> {
    await this.page.reload()
    await this.#loaded()
  }

  async close(): Promise<void> {
    await this.page.context().close()
  }

  async authorize(token: string): Promise<void> {
    await this.page.locator('.auth-wrapper > .authorize').click()
    await this.page.locator('.modal-ux input').fill(token)
    await this.page.locator('.modal-ux button[type=submit]').click()
    await this.page.locator('.modal-ux .btn-done').click()
  }

  /** An operation's block, collapsed or expanded. */
  operation(operationId: string): Locator {
    return this.page.locator(`.opblock[id$="-${operationId}"]`)
  }

  /** Expands or collapses an operation. Each change of the page renders everything that is expanded again. */
  async toggle(operationId: string): Promise<void> {
    await this.operation(operationId).locator('.opblock-summary-control').click()
  }

  async #unfolded(operationId: string): Promise<Locator> {
    const operation = this.operation(operationId)
    if (await operation.locator('.execute').isHidden()) await this.toggle(operationId)
    await this.ready(operationId)
    return operation
  }

  /** The names of the examples for the request body. The first one is selected by default. */
  examples(operationId: string): Promise<string[]> {
    return this.#choices(operationId).locator('option').allInnerTexts()
  }

  /** @returns the body that the form then contains */
  async choose(operationId: string, example: string): Promise<string> {
    await this.#choices(operationId).selectOption({ label: example })
    return this.operation(operationId).locator('textarea').inputValue()
  }

  #choices(operationId: string): Locator {
    const select = '.opblock-section-request-body .examples-select-element'
    return this.operation(operationId).locator(select)
  }

  /** Resolves once Swagger UI has resolved an operation. Executing it earlier fails silently. */
  async ready(operationId: string): Promise<void> {
    await this.operation(operationId).locator('.responses-table').last().waitFor()
  }

  /** Executes an operation with its pre-filled form, except for the given fields. `body` is the request body. */
  async execute(operationId: string, fields: Record<string, string> = {}): Promise<Shown> {
    const operation = await this.#unfolded(operationId)
    for (const [name, value] of Object.entries(fields)) {
      const field = name === 'body' ? 'textarea' : `tr[data-param-name="${name}"] input`
      await operation.locator(field).fill(value)
    }
    await operation.locator('.execute').click()
    // The spinner is shown from the click until the response is shown.
    await operation.locator('.loading-container').waitFor({ state: 'detached' })
    return this.shown(operationId)
  }

  /** Resolves to the result of the latest request once it is shown. */
  async shown(operationId: string): Promise<Shown> {
    const operation = this.operation(operationId)
    const live = operation.locator('.live-responses-table tbody')
    const readAll = async (locator: Locator) => (await locator.allInnerTexts()).join('\n')
    return {
      status: await live.locator('.response-col_status').innerText(),
      headers: await readAll(live.locator('.headerline')),
      body: await readAll(live.locator('.highlight-code code')),
      curl: await operation.locator('.curl').innerText(),
    }
  }

  async #loaded(): Promise<void> {
    await this.page.locator('.opblock').first().waitFor()
  }
}
