import type { Page } from 'playwright-core'

/** More tab stops than precede any element of the page. */
const MOST_STOPS = 60

/**
 * Presses Tab, or another key, until the element with a CSS selector has the focus.
 *
 * @returns the HTML of the elements on the way whose focus was not visible
 * @throws Error if Tab does not reach the element
 */
export async function tabTo(
  page: Page,
  selector: string,
  key: 'Tab' | 'Shift+Tab' = 'Tab',
): Promise<string[]> {
  const unseen: string[] = []
  for (let stop = 0; stop < MOST_STOPS; stop++) {
    await page.keyboard.press(key)
    const hidden = await page.evaluate<string | undefined>(UNSEEN_FOCUS)
    if (hidden !== undefined) unseen.push(hidden)
    const there = `document.activeElement.matches(${JSON.stringify(selector)})`
    if (await page.evaluate(there)) return unseen
  }
  throw new Error(`Tab does not reach ${selector}`)
}

/** The focused element if it has no outline. */
const UNSEEN_FOCUS = `(() => {
  const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement)
  const seen = outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2
  return seen ? undefined : document.activeElement.outerHTML.slice(0, 200)
})()`
