/** A network between a mirror and its source that no longer forwards anything, and reports nothing. */
import t, { type Test } from 'tap'
import { until } from '../helpers/processes/until.ts'
import { type Service, startService } from '../helpers/service/service.ts'
import { CuttingProxy } from './cutting-proxy.ts'
import { change, fill, plantsOf, TestMirror } from './mirrored.ts'

/** Several times what the documentation promises, because the machine can be busy. */
const LIMIT_MS = 40_000

let service: Service
let copy: TestMirror
let proxy: CuttingProxy
t.beforeEach(async (t) => {
  service = await startService(t as Test)
  await fill(service.store, 1500)
  copy = await TestMirror.open(t as Test, service)
  proxy = await CuttingProxy.start(t as Test, () => [service.url])
})

/** Follows through the proxy, and waits for changes. */
async function follow(): Promise<{ stop(): Promise<void> }> {
  const running = copy.follow({ from: { url: proxy.url, token: service.token } })
  await until('the mirror has caught up', () => copy.lines.at(-1) === 'caught up')
  // It now waits for changes.
  await change(service.store)
  await copy.catchesUp(service)
  return running
}

t.test('a change arrives although the connections no longer forward anything', async (t) => {
  const { stop } = await follow()
  proxy.silence('existing')
  const begun = performance.now()
  await change(service.store, 1)
  await copy.catchesUp(service)
  t.ok(performance.now() - begun < LIMIT_MS)
  t.strictSame(await plantsOf(copy.store), await plantsOf(service.store))
  await stop()
})

t.test('a mirror says that it is behind if the network forwards nothing', async (t) => {
  const { stop } = await follow()
  proxy.silence('all')
  const begun = performance.now()
  await until('it is behind', () => /^behind/.test(String(copy.lines.at(-1))))
  t.ok(performance.now() - begun < LIMIT_MS)
  t.match(copy.lines.at(-1), /^behind: no response from http:\S+: nothing was received for 8 s$/)
  await stop()
})
