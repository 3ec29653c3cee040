import { pino } from 'pino'
import t from 'tap'
import { LimitedLog } from '../../src/observing/limited-log.ts'
import { createProblemLog } from '../../src/observing/log.ts'

t.test('a problem that lasts is logged once', async (t) => {
  const lines: unknown[] = []
  const stream = {
    write: (line: string) => {
      lines.push(JSON.parse(line).msg)
    },
  }
  const report = createProblemLog(pino({}, stream))
  for (const problem of ['it fails', 'it fails', 'so does this', 'it fails']) report(problem)
  t.same(lines, ['it fails', 'so does this'])
})

t.test(
  'after a period with too many lines, their number is reported and lines are logged again',
  async (t) => {
    const { promise, resolve } = Promise.withResolvers<number>()
    // The log does not keep the process running.
    const process = setInterval(() => {}, 1000)
    t.teardown(() => clearInterval(process))
    const log = new LimitedLog({ periodMs: 1, linesMax: 2, onOmitted: resolve })
    const lines: number[] = []
    const write = (...numbers: number[]) => {
      for (const number of numbers) log.write('key', () => lines.push(number))
    }
    write(1, 2, 3, 4)
    t.equal(await promise, 2)
    write(5)
    t.same(lines, [1, 2, 5])
  },
)

t.test('a key is logged again once it is forgotten', async (t) => {
  const log = new LimitedLog({ periodMs: Number.POSITIVE_INFINITY })
  const lines: string[] = []
  const write = (...keys: string[]) => {
    for (const key of keys) log.write(key, () => lines.push(key))
  }
  write('a', 'b', 'a')
  log.forget('a')
  write('a', 'b')
  log.forgetAll()
  write('a', 'b')
  t.same(lines, ['a', 'b', 'a', 'a', 'b'])
})

t.test('a log that remembers one key logs each change of it', async (t) => {
  const log = new LimitedLog({ periodMs: Number.POSITIVE_INFINITY, keysMax: 1 })
  const lines: string[] = []
  for (const key of ['a', 'a', 'b', 'b', 'a']) log.write(key, () => lines.push(key))
  t.same(lines, ['a', 'b', 'a'])
})
