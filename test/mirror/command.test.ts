/** `plant-store mirror`, in the process of the test. */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { tokenFromEnvironment } from '../../src/config/config.ts'
import { openStore } from '../../src/stores/engines.ts'
import { type FaultyService, startFaulty } from '../faults/faulty-service.ts'
import { runHere } from '../helpers/processes/command-here.ts'
import { until } from '../helpers/processes/until.ts'
import type { Service } from '../helpers/service/service.ts'
import { fill, plantsOf } from './mirrored.ts'

let service: Service
let injection: FaultyService['injection']
t.before(async () => {
  ;({ service, injection } = await startFaulty(t as Test))
  await fill(service.store, 1500)
})

const VARIABLE = 'PLANT_STORE_MIRROR_TOKEN'

t.test('mirror copies the plants to a new database, and continues with it', async (t) => {
  const database = join(t.testdir(), 'folder', 'mirror.db')
  const args = ['mirror', service.url, '--once', '--database', database]
  const first = await runHere(args, { [VARIABLE]: service.token })
  const stdout = `caught up with ${service.url} in ${database}\n`
  t.strictSame(first, { code: 0, stdout, stderr: '' })
  const store = await openStore({ database, lockTimeout: 60_000, sameThread: true })
  t.teardown(() => store.close())
  t.strictSame(await plantsOf(store), await plantsOf(service.store))
  const file = t.testdir({ token: `${service.token}\n` })
  const second = await runHere([...args, '--token-file', join(file, 'token')])
  t.strictSame(second, { code: 0, stdout, stderr: '' })
})

t.test(
  'mirror --once reports a signal before the end, and mirror ends without an error',
  async (t) => {
    for (const [options, code, stderr] of [
      [['--once'], 143, /^plant-store: interrupted: the mirror has not caught up; run .*\n$/],
      [[], 0, /^$/],
    ] as const) {
      injection.clearRequests()
      injection.setFaults([{ delayMs: 600_000 }])
      const database = join(t.testdir(), 'mirror.db')
      const args = ['mirror', service.url, ...options, '--database', database]
      const running = runHere(args, { [VARIABLE]: service.token })
      await until('the source is read', () => injection.requests.length > 0)
      process.emit('SIGTERM')
      t.match(await running, { code, stdout: /^$/, stderr })
    }
  },
)

t.test('mirror ends without a usable token or URL', async (t) => {
  injection.setFaults([])
  const { url } = service
  for (const [token, args, says] of [
    [undefined, [url], /^plant-store: there is no access token .* PLANT_STORE_MIRROR_TOKEN/],
    [
      'a secret with spaces',
      [url],
      /^plant-store: invalid PLANT_STORE_MIRROR_TOKEN: expected (?!.*secret)/,
    ],
    [
      'a-token-of-another-service',
      [url],
      /^plant-store: the source rejects the access token; create one there .*\n$/,
    ],
    [
      undefined,
      [url, '--token-file', '/nowhere/token'],
      /^plant-store: cannot read \/nowhere\/token: no such file or directory\n$/,
    ],
    [
      'a-token-of-another-service',
      ['http://me:secret@127.0.0.1'],
      /^plant-store: invalid url: expected a URL such as (?!.*secret)/,
    ],
  ] as const) {
    const database = join(t.testdir(), 'mirror.db')
    const line = ['mirror', ...args, '--database', database]
    t.match(await runHere(line, { [VARIABLE]: token }), { code: 1, stdout: '', stderr: says })
  }
})

t.test('the service ignores the token of the mirror', async (t) => {
  t.strictSame(tokenFromEnvironment({ [VARIABLE]: '' }), {})
})
