import axe, { type AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'

/** Asserts that axe finds nothing in a page, and that it does not scroll sideways. */
export async function assertAccessible(t: Test, page: Page, what: string): Promise<void> {
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate<AxeResults>('axe.run()')
  const problems = violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  )
  t.same(problems, [], what)
  t.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0, what)
}
