/** Rows that are rendered above and below those in view, so that fast scrolling shows no gaps. */
const OVERSCAN = 8

/** What a person sees of a table. All in pixels, and all rows have the same height. */
export interface Viewport {
  readonly scrollTop: number
  readonly viewHeight: number
  readonly rowHeight: number
}

/** The first row in view, and the rows to render: those from `from` to before `to`. */
export function visibleRows(
  { scrollTop, viewHeight, rowHeight }: Viewport,
  length: number,
): { readonly first: number; readonly from: number; readonly to: number } {
  // Safari scrolls beyond the top, and back.
  const first = Math.max(0, Math.floor(scrollTop / rowHeight))
  const end = Math.floor((scrollTop + viewHeight) / rowHeight) + 1
  return { first, from: Math.max(0, first - OVERSCAN), to: Math.min(length, end + OVERSCAN) }
}

/** The scroll position, nearest to the current one, at which a row is completely in view. */
export function revealRow(index: number, { scrollTop, viewHeight, rowHeight }: Viewport): number {
  const top = index * rowHeight
  if (top < scrollTop) return top
  return Math.max(scrollTop, Math.min(top, top + rowHeight - viewHeight))
}

/**
 * The row that a key moves the focus to, which can be beyond the first or the last one.
 *
 * @param active the row that has the focus
 * @param length the number of rows
 * @param visible how many rows are in view
 * @returns undefined if the key does not move the focus
 */
export function rowForKey(
  key: string,
  active: number,
  length: number,
  visible: number,
): number | undefined {
  // One row stays in view.
  const page = Math.max(1, Math.floor(visible) - 1)
  switch (key) {
    case 'ArrowDown':
      return active + 1
    case 'ArrowUp':
      return active - 1
    case 'PageDown':
      return active + page
    case 'PageUp':
      return active - page
    case 'Home':
      return 0
    case 'End':
      return length - 1
    default:
      return undefined
  }
}
