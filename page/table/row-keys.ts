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
