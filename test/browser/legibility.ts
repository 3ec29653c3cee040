import axe, { type AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

/** axe's rules about legibility. Its other rules check the markup, which is Swagger UI's. */
const RULES = ['color-contrast', 'meta-viewport', 'scrollable-region-focusable']

/**
 * Finds legibility problems in the element with a selector: too little contrast (WCAG 2.2, 1.4.3), text that is cut off,
 * or a page that scrolls sideways.
 */
export async function findIllegible(page: Page, selector: string): Promise<string[]> {
  const loaded = await page.evaluate<boolean>('"axe" in window')
  if (!loaded) await page.evaluate(axe.source)
  const within = JSON.stringify(selector)
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run(${within}, { runOnly: ${JSON.stringify(RULES)}, resultTypes: ["violations"] })`,
  )
  const faint = violations.flatMap(({ nodes }) =>
    nodes.map((node) => node.html + node.failureSummary),
  )
  const hidden = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
  const wide = hidden > 0 ? [`the page is ${hidden} pixels wider than the screen`] : []
  return [...faint, ...wide, ...(await page.evaluate<string[]>(`(${CUT_TEXT})(${within})`))]
}

/** Elements whose own text extends beyond the page or is clipped. */
const CUT_TEXT = `(selector) => [...document.querySelectorAll(selector + ' *')]
  .filter((element) => element.checkVisibility())
  .filter(({ childNodes }) => [...childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
  .filter((element) => {
    // Elements for screen readers only, or hidden until they have the focus.
    if (element.clientWidth === 1) return false
    const hides = getComputedStyle(element).overflowX !== 'visible'
    const { left, right } = element.getBoundingClientRect()
    return left < 0 || right > innerWidth || (hides && element.scrollWidth > element.clientWidth)
  })
  .map(({ outerHTML }) => 'cut: ' + outerHTML.slice(0, 200))`
