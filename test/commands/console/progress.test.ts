import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { startProgress } from '../../../src/commands/console/progress.ts'

/** Reports progress every second, and returns the printed lines, each prefixed with the second. */
function reportEachSecond(seconds: number, options: { total?: number }): string[] {
  const shown: string[] = []
  let second = 0
  const stream = new PassThrough({ encoding: 'utf8' })
  stream.on('data', (text) => shown.push(`${second} ${text}`))
  const clock = { monotonic: () => second * 1000 }
  const progress = startProgress({ what: 'a task', unit: 'plants', stream, clock, ...options })
  for (second = 1; second <= seconds; second++) progress.update(second * 1000)
  progress.end()
  return shown
}

t.test('without a terminal, a line is printed every five seconds', async (t) => {
  t.same(reportEachSecond(14, { total: 14_000 }), [
    '5 a task: 5,000 of 14,000 plants (35%)\n',
    '10 a task: 10,000 of 14,000 plants (71%)\n',
  ])
})

t.test('there is no percentage without a total', async (t) => {
  t.same(reportEachSecond(6, {}), ['5 a task: 5,000 plants\n'])
  t.same(reportEachSecond(6, { total: 0 }), ['5 a task: 5,000 plants\n'])
})

t.test('a long task does not flood the log', async (t) => {
  const hour = reportEachSecond(3600, { total: 3_600_000 })
  t.ok(hour.length < 60, `${hour.length} lines`)
  t.match(hour.at(-1), /^3[2-6]\d\d /, 'lines are still printed at the end')
})

t.test('a message is printed on its own line', async (t) => {
  const stream = new PassThrough({ encoding: 'utf8' })
  const progress = startProgress({ what: 'a task', unit: 'plants', stream })
  progress.printLine('line 7: invalid')
  progress.end()
  t.equal(stream.read(), 'line 7: invalid\n')
})

t.test('a dumb terminal gets lines', async (t) => {
  const { TERM } = process.env
  t.teardown(() => {
    delete process.env.TERM
    Object.assign(process.env, TERM !== undefined && { TERM })
  })
  process.env.TERM = 'dumb'
  const stream = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY: true })
  const progress = startProgress({ what: 'a task', unit: 'plants', total: 2, stream })
  progress.end()
  t.equal(stream.read(), null)
})

const noTerminal = spawnSync('script', ['--version']).error && 'requires script from util-linux'
const SHOW = fileURLToPath(new URL('./show-progress.ts', import.meta.url))

t.test('a terminal gets a bar', { skip: noTerminal ?? false }, async (t) => {
  const terminal = spawn('script', ['-qec', 'exec "$NODE" "$SHOW"', '/dev/null'], {
    env: { ...process.env, NODE: process.execPath, SHOW, TERM: 'xterm' },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  t.teardown(() => terminal.kill('SIGKILL'))
  let shown = ''
  terminal.stdout.setEncoding('utf8').on('data', (chunk) => {
    shown += chunk
  })
  const [code] = await once(terminal, 'close')
  t.equal(code, 0)
  // Each frame starts by moving the cursor to the start of the line.
  const frames = shown.split('\x1b[1G')
  for (const expected of [
    /^known {2}=+-+ [1-9]\d% {2}[1-9]00 of 1,000 plants {2}\S+ left/,
    /^known {2}={25} 100% {2}1,000 of 1,000 plants {2}0:00 left/,
    /^unknown {2}[1-9]00 plants {2}0:0\d/,
    /^unknown {2}1,000 plants {2}0:0\d/,
  ]) {
    t.ok(
      frames.some((frame) => expected.test(frame)),
      `${expected}`,
    )
  }
  t.equal(
    shown.split('\x1b[2Ksaid at last\r\n').length,
    3,
    'both messages are printed on a cleared line',
  )
  t.match(shown, /\r\nthe end\r\n$/, 'output continues on the next line')
})
