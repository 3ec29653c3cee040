/** `plant-store mirror` as a process: signals, and standard output. */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openStore } from '../../src/stores/engines.ts'
import { Command } from '../helpers/command.ts'
import { type Service, startService } from '../helpers/service.ts'
import { fill, plantsOf } from './mirrored.ts'

/** Starts a mirror of a service, with its coverage measured. */
function startMirror(t: Test, { url, token }: Pick<Service, 'url' | 'token'>, ...more: string[]) {
  const database = join(t.testdir(), 'mirror.db')
  const args = ['mirror', url, '--database', database, ...more]
  const env = { PLANT_STORE_MIRROR_TOKEN: token }
  return { database, command: new Command(t, args, { measured: true, env }) }
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  t.test(`${signal} stops a mirror`, async (t) => {
    const service = await startService(t)
    await fill(service.store, 1500)
    const { database, command } = startMirror(t, service)
    await command.says(/^caught up with .*\n/)
    command.process.kill(signal)
    t.match(await command.finished(), { code: 0, stderr: /^$/ })
    const store = await openStore({ database, lockTimeout: 1000, sameThread: true })
    t.teardown(() => store.close())
    t.strictSame(await plantsOf(store), await plantsOf(service.store))
  })
}

t.test(
  'a mirror that is stopped before it has caught up with --once has its own exit code',
  async (t) => {
    const token = 'a-token-of-a-service'
    const { command } = startMirror(t, { url: 'http://127.0.0.1:9', token }, '--once')
    const stderr = command.process.stderr
    while (!command.stderr.includes('behind')) await new Promise((go) => stderr?.once('data', go))
    command.process.kill('SIGTERM')
    const { code, stdout, stderr: lines } = await command.finished()
    t.strictSame([code, stdout], [143, ''])
    t.match(
      lines,
      /^plant-store: behind http:.*\nplant-store: interrupted: the mirror has not caught up/,
    )
  },
)
