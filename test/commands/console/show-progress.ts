/** Run on a terminal by progress.test.ts. Shows progress for half a second with a total, then for as long without one. */
import { setInterval } from 'node:timers/promises'
import { startProgress } from '../../../src/commands/console/progress.ts'

for (const options of [{ what: 'known', total: 1000 }, { what: 'unknown' }]) {
  const progress = startProgress({ ...options, unit: 'plants' })
  let done = 0
  for await (const _ of setInterval(50)) {
    done += 100
    progress.update(done)
    if (done === 900) break
  }
  // Too soon after the last update to be drawn before the end.
  progress.update(1000)
  progress.printLine('said at last')
  progress.end()
}
process.stdout.write('the end\n')
