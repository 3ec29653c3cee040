/** `plant-store mirror` as a process: signals, and standard output. */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openStore } from '../../src/stores/engines.ts'
import { startPostgres } from '../../tools/postgres/postgres-server.ts'
import { Command } from '../helpers/processes/command.ts'
import { type Service, startService } from '../helpers/service/service.ts'
import { fill, plantsOf } from './mirrored.ts'

/** Starts a mirror of a service. */
function startMirror(t: Test, { url, token }: Pick<Service, 'url' | 'token'>, ...more: string[]) {
  return startMirrorIn(join(t.testdir(), 'mirror.db'), t, { url, token }, ...more)
}

function startMirrorIn(
  database: string,
  t: Test,
  { url, token }: Pick<Service, 'url' | 'token'>,
  ...more: string[]
) {
  const args = ['mirror', url, '--database', database, ...more]
  const env = { PLANT_STORE_MIRROR_TOKEN: token }
  return { database, command: new Command(t, args, { env }) }
}

/** Resolves once a mirror says that it is behind; rejects if it ends first. */
async function behind(command: Command): Promise<void> {
  const ended = command.finished().then(({ stderr }) => Promise.reject(new Error(stderr)))
  const { stderr } = command.process
  while (!command.stderr.includes('behind')) {
    await Promise.race([new Promise((go) => stderr?.once('data', go)), ended])
  }
  // The command may end later.
  ended.catch(() => {})
}

t.test('a signal stops a mirror', async (t) => {
  const service = await startService(t)
  await fill(service.store, 1500)
  const { database, command } = startMirror(t, service)
  await command.says(/^caught up with .*\n/)
  command.process.kill('SIGINT')
  t.match(await command.finished(), { code: 0, stderr: /^$/ })
  const store = await openStore({ database, lockTimeout: 60_000, sameThread: true })
  t.teardown(() => store.close())
  t.strictSame(await plantsOf(store), await plantsOf(service.store))
})

t.test(
  'a mirror that is stopped before it has caught up with --once has its own exit code',
  async (t) => {
    const token = 'a-token-of-a-service'
    const { command } = startMirror(t, { url: 'http://127.0.0.1:9', token }, '--once')
    await behind(command)
    command.process.kill('SIGTERM')
    const { code, stdout, stderr: lines } = await command.finished()
    t.strictSame([code, stdout], [143, ''])
    t.match(
      lines,
      /^plant-store: behind http:.*\nplant-store: interrupted: the mirror has not caught up/,
    )
  },
)

t.test('a mirror waits for a server that is down at its start', async (t) => {
  const service = await startService(t)
  await fill(service.store, 1500)
  const { server } = await startPostgres(t)
  const database = await server.database('mirror')
  await server.stop()
  const waiting = startMirrorIn(database, t, service)
  await behind(waiting.command)
  t.match(waiting.command.stderr, /behind http:\S+: the mirror's database: .*ECONNREFUSED/)
  waiting.command.process.kill('SIGTERM')
  t.match(await waiting.command.finished(), { code: 0, stdout: '' })
  const { command } = startMirrorIn(database, t, service, '--once')
  await behind(command)
  await server.start()
  t.match(await command.finished(), { code: 0, stdout: /^caught up with / })
  const store = await openStore({ database, lockTimeout: 60_000, sameThread: true })
  t.teardown(() => store.close())
  t.strictSame(await plantsOf(store), await plantsOf(service.store))
})

t.test('a mirror does not wait for a database that nobody has created', async (t) => {
  const { server } = await startPostgres(t)
  const { command } = startMirrorIn(server.url('nothing'), t, {
    url: 'http://x',
    token: 'a-token-of-a-service',
  })
  const { code, stderr } = await command.finished()
  t.equal(code, 1)
  t.match(
    stderr,
    /^plant-store: cannot use the database postgres:\S+: .*"nothing" does not exist\n$/,
  )
})
