import type { Page } from 'playwright-core'

/** More than there are on the way to anything here. */
const MOST_STOPS = 60

/**
 * Presses Tab until the element that a selector of CSS names has the focus.
 *
 * @returns the stops up to there, as HTML, where one does not see the focus
 * @throws Error if Tab does not lead there
 */
export async function tabTo(page: Page, selector: string): Promise<string[]> {
  const unseen: string[] = []
  for (let stop = 0; stop < MOST_STOPS; stop++) {
    await page.keyboard.press('Tab')
    const hidden = await page.evaluate<string | undefined>(UNSEEN_FOCUS)
    if (hidden !== undefined) unseen.push(hidden)
    const there = `document.activeElement.matches(${JSON.stringify(selector)})`
    if (await page.evaluate(there)) return unseen
  }
  throw new Error(`Tab does not lead to ${selector}`)
}

/** The element that has the focus, if it has no outline. */
const UNSEEN_FOCUS = `(() => {
  const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement)
  const seen = outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2
  return seen ? undefined : document.activeElement.outerHTML.slice(0, 200)
})()`
