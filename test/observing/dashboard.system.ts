import t from 'tap'
import { dashboard, type Panel } from './expressions.ts'

/** Grafana divides the width of a dashboard into this many columns. */
const COLUMNS = 24

// biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana's syntax for a variable.
const SELECTED = '${datasource}'

const { panels, templating } = dashboard

t.test('every panel and query uses the data source that the reader selects', async (t) => {
  t.match(
    templating.list.find(({ name }) => name === 'datasource'),
    { type: 'datasource' },
  )
  for (const { title, type, datasource, targets = [] } of panels) {
    if (type === 'row') continue
    t.ok(targets.length > 0, `${title} has a query`)
    for (const source of [datasource, ...targets.map((target) => target.datasource)]) {
      t.equal(source?.uid, SELECTED, title)
    }
  }
})

t.test('every query is limited to the instances that the reader selects', async (t) => {
  for (const { targets = [] } of panels) {
    for (const { expr } of targets) {
      const selectors = expr.match(/\b\w+\{[^}]*\}/g) ?? []
      t.ok(selectors.length > 0, expr)
      for (const selector of selectors) t.match(selector, 'instance=~"$instance"')
    }
  }
})

t.test('ids are unique, and panels do not overlap', async (t) => {
  t.equal(new Set(panels.map(({ id }) => id)).size, panels.length)
  const cells = panels.flatMap(cellsOf)
  t.equal(new Set(cells).size, cells.length)
  for (const { title, gridPos } of panels) t.ok(gridPos.x + gridPos.w <= COLUMNS, title)
  for (const { title, targets = [] } of panels) {
    t.equal(new Set(targets.map(({ refId }) => refId)).size, targets.length, title)
  }
})

function cellsOf({ gridPos: { x, y, w, h } }: Panel): number[] {
  return Array.from({ length: w * h }, (_, index) => {
    const [row, column] = [y + Math.floor(index / w), x + (index % w)]
    return row * COLUMNS + column
  })
}
