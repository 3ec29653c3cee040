/** When a command stops, without the signals and the npm of a real process. */
import t, { type Test } from 'tap'
import { onNpmExit, onStopSignal } from '../../../src/commands/console/signals.ts'
import { freezeClock } from '../../helpers/processes/frozen-clock.ts'

t.test('a second signal ends the process, unless it is an echo of the first', async (t) => {
  const pass = freezeClock(t)
  const exits = t.capture(process, 'exit', () => {})
  const before = (['SIGINT', 'SIGTERM'] as const).map((signal) => process.listeners(signal))
  const stops: number[] = []
  onStopSignal((exitCode) => {
    pass(1000)
    stops.push(exitCode)
  })
  t.teardown(() => {
    for (const [index, signal] of (['SIGINT', 'SIGTERM'] as const).entries()) {
      const added = process.listeners(signal).filter((each) => !before[index]?.includes(each))
      for (const listener of added) process.off(signal, listener)
    }
  })
  process.emit('SIGINT')
  pass(250)
  process.emit('SIGINT')
  t.same(stops, [130])
  t.same(exits(), [])
  pass(1)
  process.emit('SIGTERM')
  t.same(stops, [130])
  t.match(exits(), [{ args: [143] }])
})

/** Calls back each time that the parent is looked at, and counts the timers that are left. */
function watchParent(t: Test, event: string) {
  t.intercept(process, 'env', { value: { ...process.env, npm_lifecycle_event: event } })
  let look: (() => void) | undefined
  let stops = 0
  t.capture(globalThis, 'setInterval', (callback: () => void) => {
    look = callback
    return { unref: () => 'timer' }
  })
  t.capture(globalThis, 'clearInterval', (timer: unknown) => {
    t.equal(timer, 'timer')
    look = undefined
  })
  onNpmExit(() => stops++)
  return { look: () => look?.(), stops: () => stops }
}

t.test('a command that npm has started stops once when npm exits', async (t) => {
  for (const event of ['npx', 'start', 'test']) {
    await t.test(event, async (t) => {
      const { look, stops } = watchParent(t, event)
      look()
      t.equal(stops(), 0)
      t.intercept(process, 'ppid', { value: 1 })
      for (const _ of 'abc') look()
      t.equal(stops(), event === 'test' ? 0 : 1)
    })
  }
})
