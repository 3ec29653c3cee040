import { pino } from 'pino'
import t from 'tap'
import { createProblemLog } from '../../src/log/log.ts'

/** What is logged of some problems. */
function logged(intervalMs: number | undefined, ...problems: string[]): unknown[] {
  const lines: unknown[] = []
  const stream = {
    write: (line: string) => {
      lines.push(JSON.parse(line).msg)
    },
  }
  const report = createProblemLog(pino({}, stream), intervalMs)
  for (const problem of problems) report(problem)
  return lines
}

t.test('a problem that lasts is logged once', async (t) => {
  t.same(logged(undefined, 'it fails', 'it fails', 'so does this', 'it fails'), [
    'it fails',
    'so does this',
  ])
})

t.test('a problem that lasts is logged again after an interval', async (t) => {
  t.same(logged(0, 'it fails', 'it fails'), ['it fails', 'it fails'])
})
