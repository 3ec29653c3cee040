/** The layout of the table, and its keys. */
import t from 'tap'
import { rowForKey } from '../../page/table/row-keys.ts'
import { RowLayout } from '../../page/table/row-layout.ts'

t.test('rows of the same height', async (t) => {
  const layout = new RowLayout(1000, 40)
  t.equal(layout.height, 40_000)
  t.equal(layout.top(7), 280)
  t.equal(layout.indexAt(279), 6)
  t.equal(layout.indexAt(280), 7)
})

t.test('an expanded row moves those below', async (t) => {
  const layout = new RowLayout(10, 40, { index: 3, height: 100 })
  t.equal(layout.height, 460)
  t.same(
    [3, 4, 5].map((index) => layout.top(index)),
    [120, 220, 260],
  )
  t.same(
    [119, 120, 219, 220, 259, 260].map((y) => layout.indexAt(y)),
    [2, 3, 3, 4, 4, 5],
  )
})

t.test('a row is revealed with the least scrolling', async (t) => {
  const layout = new RowLayout(100, 40)
  t.equal(layout.reveal(5, 0, 400), 0)
  t.equal(layout.reveal(10, 0, 400), 40)
  t.equal(layout.reveal(5, 1000, 400), 200)
  t.equal(layout.reveal(5, 0, 30), 200, 'the top of a row that is higher than the view')
})

t.test('the rows near those in view are rendered', async (t) => {
  const layout = new RowLayout(100, 40)
  t.same(layout.visible(2000, 400), { first: 50, from: 42, to: 69 })
  t.same(layout.visible(-40, 400), { first: 0, from: 0, to: 18 }, 'scrolled beyond the top')
  t.same(layout.visible(3600, 400), { first: 90, from: 82, to: 100 }, 'at the end')
})

t.test('keys move the focus between rows', async (t) => {
  for (const [key, row] of [
    ['ArrowDown', 51],
    ['ArrowUp', 49],
    ['PageDown', 59],
    ['PageUp', 41],
    ['Home', 0],
    ['End', 99],
    ['Enter', undefined],
  ] as const) {
    t.equal(rowForKey(key, 50, 100, 10.9), row, key)
  }
  t.equal(rowForKey('PageDown', 50, 100, 0.5), 51, 'a page is at least one row')
})
