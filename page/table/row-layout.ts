/** Rows that are rendered above and below those in view, so that fast scrolling shows no gaps. */
const OVERSCAN = 8

/** Where the rows of a table are, in pixels. All have the same height, except one. */
export class RowLayout {
  readonly #length: number
  readonly #rowHeight: number
  readonly #expanded: { readonly index: number; readonly height: number } | undefined

  /** @param expanded the row with another height */
  constructor(
    length: number,
    rowHeight: number,
    expanded?: { readonly index: number; readonly height: number },
  ) {
    this.#length = length
    this.#rowHeight = rowHeight
    this.#expanded = expanded
  }

  /** The height of all rows. */
  get height(): number {
    return this.top(this.#length)
  }

  /** The top of a row. */
  top(index: number): number {
    const { index: expanded = Number.POSITIVE_INFINITY, height = 0 } = this.#expanded ?? {}
    const extra = index > expanded ? height - this.#rowHeight : 0
    return index * this.#rowHeight + extra
  }

  /** The row at a position. */
  indexAt(position: number): number {
    const { index: expanded = Number.POSITIVE_INFINITY, height = 0 } = this.#expanded ?? {}
    if (position < this.top(expanded)) return Math.floor(position / this.#rowHeight)
    const below = Math.floor((position - height + this.#rowHeight) / this.#rowHeight)
    return Math.max(expanded, below)
  }

  /** The first row in view, and the rows to render: those from `from` to before `to`. */
  visible(
    scrollTop: number,
    viewHeight: number,
  ): { readonly first: number; readonly from: number; readonly to: number } {
    // Safari scrolls beyond the top, and back.
    const first = Math.max(0, this.indexAt(scrollTop))
    const end = this.indexAt(scrollTop + viewHeight) + 1
    const to = Math.min(this.#length, end + OVERSCAN)
    return { first, from: Math.max(0, first - OVERSCAN), to }
  }

  /** The scroll position, nearest to the current one, at which a row is completely in view. */
  reveal(index: number, scrollTop: number, viewHeight: number): number {
    const [top, bottom] = [this.top(index), this.top(index + 1)]
    if (top < scrollTop) return top
    return Math.max(scrollTop, Math.min(top, bottom - viewHeight))
  }
}
