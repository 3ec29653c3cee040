import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'

/** Screen size and color scheme of a viewer. */
export type Viewer = BrowserContextOptions

/** A page in a browser with an empty profile. */
export interface Visit {
  readonly page: Page
  /** Problems a viewer would not see: errors, warnings, requests to third parties, violations of the policy. */
  readonly complaints: string[]
}

/** Opens a page of the service. The caller closes its context. */
export async function visit(browser: Browser, url: string, viewer: Viewer = {}): Promise<Visit> {
  return visitInTab(await browser.newContext(viewer), url)
}

/** Opens a page of the service in another tab of a profile. */
export async function visitInTab(context: BrowserContext, url: string): Promise<Visit> {
  const page = await context.newPage()
  const complaints: string[] = []
  const complain = (...what: unknown[]) => complaints.push(what.join(' '))
  page.on('pageerror', ({ message }) => complain(message))
  page.on('requestfailed', (request) => {
    // A page aborts requests whose response it no longer needs.
    const reason = request.failure()?.errorText
    if (reason !== 'net::ERR_ABORTED') complain('failed:', request.url(), reason)
  })
  page.on('response', (response) => {
    const { pathname } = new URL(response.url())
    const isFile = /\/(documentation|page)\//.test(pathname)
    if (isFile && response.status() >= 400) complain(response.status(), pathname)
  })
  page.on('console', (message) => {
    // The browser logs every 4xx and 5xx, but some tests request them on purpose.
    const isStatus = message.text().startsWith('Failed to load resource: the server responded')
    if (/error|warning/.test(message.type()) && !isStatus) complain(message.text())
  })
  const { origin } = new URL(url)
  page.on('request', (request) => {
    const asked = new URL(request.url())
    if (/^https?:$/.test(asked.protocol) && asked.origin !== origin) complain('asked:', asked)
  })
  await page.addInitScript(`addEventListener('securitypolicyviolation', (violation) =>
    console.error(violation.violatedDirective, violation.blockedURI))`)
  await page.goto(url)
  return { page, complaints }
}
