import { join } from 'node:path'
import t, { type Test } from 'tap'
import { ConfigError } from '../../src/config/config.ts'
import { type Fault, type PlantStoreOptions, startPlantStore } from '../../src/index.ts'
import { FileError } from '../../src/system/user-errors.ts'
import { runHere } from '../helpers/processes/command-here.ts'

async function start(t: Test, options: PlantStoreOptions) {
  const store = await startPlantStore(options)
  t.teardown(store.close)
  const headers = { authorization: `Bearer ${store.token}` }
  return { store, list: async () => (await fetch(`${store.url}/plants`, { headers })).status }
}

const BUSY: Fault = { error: 'store-busy' }

t.test('a store can begin with faults, and get others', async (t) => {
  const { store, list } = await start(t, { faults: [{ ...BUSY, first: 1 }] })
  t.equal(await list(), 503)
  t.equal(await list(), 200)
  store.setFaults([{ error: 'service-busy' }])
  t.equal(await list(), 503)
  const invalid = [{ cut: 'late' }] as unknown as Fault[]
  const message =
    'faults/0/cut must be before-work, before-response, in-body, in-character or after-events'
  t.throws(() => store.setFaults(invalid), new ConfigError(message))
  await t.rejects(startPlantStore({ faults: invalid }), new ConfigError(message))
  store.setFaults([])
  t.equal(await list(), 200)
  t.match(store.requests, [{ status: 503, fault: 0 }, { status: 200 }, { fault: 0 }, {}])
  t.equal(store.requests.length, 4)
  store.clearRequests()
  t.same(store.requests, [])
})

t.test('a store without the option has neither faults nor recorded requests', async (t) => {
  const { store } = await start(t, {})
  const message = (name: string) =>
    `${name} requires a store that was started with faults, such as startPlantStore({ faults: [] })`
  t.throws(() => store.setFaults([]), new ConfigError(message('setFaults')))
  t.throws(() => store.requests, new ConfigError(message('requests')))
  t.throws(() => store.clearRequests(), new ConfigError(message('clearRequests')))
})

t.test('both health checks say that faults are on', async (t) => {
  for (const adminPort of [0, '[::1]:0']) {
    const { store } = await start(t, { faults: [], adminPort })
    for (const url of [store.url, store.adminUrl]) {
      const ready = await (await fetch(`${url}/health/ready`)).json()
      t.same(ready, { status: 'ready', faults: 'on' })
      t.same(await (await fetch(`${url}/health/live`)).json(), { status: 'live' })
    }
  }
})

t.test('faults can be in a file', async (t) => {
  const folder = t.testdir({
    'faults.json': JSON.stringify([BUSY]),
    'invalid.json': '[{"error":"plant-exists","operation":"getToken"}]',
    'broken.json': '[{"error":',
    'marked.json': '\uFEFF[]',
    'large.json': '[]'.padEnd(2 ** 16 + 1),
  })
  const file = (name: string) => join(folder, name)
  const { list } = await start(t, { faults: file('faults.json') })
  t.equal(await list(), 503)
  for (const [name, message] of [
    ['missing.json', /^cannot read .*missing\.json: no such file or directory$/],
    ['invalid.json', /^cannot use the faults in .*invalid\.json: faults\/0\/error must be /],
    ['broken.json', /^cannot use the faults in .*: faults are not valid JSON: Unexpected end of /],
    ['marked.json', /: faults are not valid JSON: remove the byte order mark at their start$/],
    ['large.json', /^cannot use the faults in .*large\.json: expected at most 65536 bytes$/],
  ] as const) {
    const error = await startPlantStore({ faults: file(name) }).catch((error) => error)
    t.type(error, FileError)
    t.match(error.message, message)
  }
})

t.test('the command requires an admin port', async (t) => {
  const { code, stdout, stderr } = await runHere(['--database=:memory:', '--faults=none.json'])
  t.same([code, stdout], [1, ''])
  t.equal(
    stderr,
    'plant-store: --faults requires --admin-port, where faults are changed and requests are read\n',
  )
})
