/** `plant-store mirror`, in the process of the test. */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { tokenFromEnvironment } from '../../src/config/config.ts'
import { openStore } from '../../src/stores/engines.ts'
import { type FaultyService, startFaulty } from '../faults-on-demand/faulty-service.ts'
import { runHere } from '../helpers/command-here.ts'
import type { Service } from '../helpers/service.ts'
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
  // Both requests for the second page of plants fail.
  const lost = { operation: 'listPlants', cut: 'before-work' } as const
  injection.setFaults([
    { ...lost, nth: 2 },
    { ...lost, nth: 3 },
  ])
  const args = ['mirror', service.url, '--once', '--database', database]
  const first = await runHere(args, { [VARIABLE]: service.token })
  t.match(first, { code: 0, stdout: `caught up with ${service.url} in ${database}\n` })
  t.match(first.stderr, /^plant-store: behind http:\S+: no response from http:\S+: .+\n$/)
  const store = await openStore({ database, lockTimeout: 60_000, sameThread: true })
  t.teardown(() => store.close())
  t.strictSame(await plantsOf(store), await plantsOf(service.store))
  const file = t.testdir({ token: `${service.token}\n` })
  const second = await runHere([...args, '--token-file', join(file, 'token')])
  t.match(second, { code: 0, stderr: /^$/, stdout: /^caught up/ })
})

for (const { what, args = [], variables = {}, says } of [
  {
    what: 'without a token',
    says: /^plant-store: there is no access token .* PLANT_STORE_MIRROR_TOKEN/,
  },
  {
    what: 'with an invalid token',
    variables: { [VARIABLE]: 'a secret with spaces' },
    says: /^plant-store: invalid PLANT_STORE_MIRROR_TOKEN: expected (?!.*secret)/,
  },
  {
    what: 'with a token of another service',
    variables: { [VARIABLE]: 'a-token-of-another-service' },
    says: /^plant-store: the source rejects the access token; create one there .*\n$/,
  },
  {
    what: 'with a token file that does not exist',
    args: ['--token-file', '/nowhere/token'],
    says: /^plant-store: cannot read \/nowhere\/token: no such file or directory\n$/,
  },
  {
    what: 'with credentials in the URL',
    args: ['http://me:secret@127.0.0.1'],
    variables: { [VARIABLE]: 'a-token-of-another-service' },
    says: /^plant-store: invalid url: expected a URL such as (?!.*secret)/,
  },
]) {
  t.test(`mirror ends ${what}`, async (t) => {
    const [first = service.url, ...others] = args[0]?.startsWith('--')
      ? [service.url, ...args]
      : args
    const database = join(t.testdir(), 'mirror.db')
    const { code, stdout, stderr } = await runHere(
      ['mirror', first, ...others, '--database', database],
      variables,
    )
    t.equal(code, 1)
    t.equal(stdout, '')
    t.match(stderr, says)
  })
}

t.test('the service ignores the token of the mirror', async (t) => {
  t.strictSame(tokenFromEnvironment({ [VARIABLE]: '' }), {})
})
