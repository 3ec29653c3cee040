/** The layout of the table, and its keys. */
import t from 'tap'
import { revealRow, rowForKey, visibleRows } from '../../page/table/rows.ts'

const at = (scrollTop: number, viewHeight = 400) => ({ scrollTop, viewHeight, rowHeight: 40 })

t.test('a row is revealed with the least scrolling', async (t) => {
  t.equal(revealRow(5, at(0)), 0)
  t.equal(revealRow(10, at(0)), 40)
  t.equal(revealRow(5, at(1000)), 200)
  t.equal(revealRow(5, at(0, 30)), 200, 'the top of a row that is higher than the view')
})

t.test('the rows near those in view are rendered', async (t) => {
  t.same(visibleRows(at(2000), 100), { first: 50, from: 42, to: 69 })
  t.same(visibleRows(at(1999), 100), { first: 49, from: 41, to: 68 })
  t.same(visibleRows(at(-40), 100), { first: 0, from: 0, to: 18 }, 'scrolled beyond the top')
  t.same(visibleRows(at(3600), 100), { first: 90, from: 82, to: 100 }, 'at the end')
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
