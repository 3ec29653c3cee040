/** Webhooks of services that run in processes of their own, and are killed. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import t, { type Test } from 'tap'
import { openStore } from '../../src/stores/engines.ts'
import { createPlant } from '../helpers/client.ts'
import { Command, run } from '../helpers/command.ts'
import { AUTHORITY, bodiesByPlant, startReceiver, status } from './receiver.ts'
import { eventually, webhookIn } from './setting.ts'

const TOKEN = 'a-token-of-the-environment'

/** How long it can take until another process continues. */
const TAKEOVER_MS_MAX = 60_000

/** How long it can take until a command has an effect on a running service: a second, and more on a busy machine. */
const COMMAND_MS_MAX = 40_000

/** How long services wait for a locked database. */
const LOCK_TIMEOUT = '60s'

/** How long a stop can take while another process locks the database. */
const STOP_MS_MAX = 30_000

function newFolder(t: Test) {
  const folder = t.testdir()
  const database = join(folder, 'plants.db')
  const authority = join(folder, 'authority.pem')
  writeFileSync(authority, AUTHORITY)
  const env = {
    PLANT_STORE_TOKEN: TOKEN,
    PLANT_STORE_DATABASE: database,
    PLANT_STORE_LOCK_TIMEOUT: LOCK_TIMEOUT,
    NODE_EXTRA_CA_CERTS: authority,
  }
  const { PLANT_STORE_TOKEN: _, ...commandEnv } = env
  return {
    database,
    start: async () => {
      const args = ['--port', '0', '--admin-port', '0', '--ready-json', '--allow-private-webhooks']
      const command = new Command(t, args, { env })
      const [ready] = await command.says(/.*\n/)
      const { url, adminUrl }: { url: string; adminUrl: string } = JSON.parse(ready)
      return { command, url, adminUrl }
    },
    webhook: async (...args: string[]) => {
      const finished = await run(t, ['webhook', ...args], { env: commandEnv })
      if (finished.code !== 0) throw new Error(finished.stderr)
      return finished.stdout
    },
  }
}

t.test('if a service is killed, another one continues', async (t) => {
  const { start, webhook } = newFolder(t)
  const receiver = await startReceiver(t)
  const services = [await start(), await start()]
  await webhook(
    ...['add', '--name', 'orders', '--url', receiver.url, '--allow-private-webhooks'],
    ...['--events', 'newPlant'],
  )
  const added = performance.now()
  await createPlant(services[0]?.url ?? '', TOKEN, { id: 1, name: 'first' })
  await receiver.until(1)
  t.ok(performance.now() - added < COMMAND_MS_MAX)
  const owners = await Promise.all(services.map(isOwner))
  t.same(owners.toSorted(), [false, true])
  const [killed, survivor] = owners[0] ? services : services.toReversed()
  // The service dies during an attempt.
  const { promise: attempted, resolve } = Promise.withResolvers<void>()
  receiver.respond = () => resolve()
  await createPlant(survivor?.url ?? '', TOKEN, { id: 2, name: 'repeated' })
  await attempted
  receiver.respond = status(204)
  const killedAt = performance.now()
  killed?.command.process.kill('SIGKILL')
  await createPlant(survivor?.url ?? '', TOKEN, { id: 3, name: 'after' })
  const received = await receiver.untilDistinct(3)
  const took = performance.now() - killedAt
  t.ok(took < TAKEOVER_MS_MAX, String(took))
  t.same([...bodiesByPlant(received).keys()].sort(), [1n, 2n, 3n])
  t.comment({ took })
})

t.test('a stop does not wait for a locked database, and nothing is lost', async (t) => {
  const { database, start, webhook } = newFolder(t)
  const receiver = await startReceiver(t)
  const first = await start()
  await webhook(
    ...['add', '--name', 'orders', '--url', receiver.url, '--allow-private-webhooks'],
    ...['--events', 'newPlant'],
  )
  await createPlant(first.url, TOKEN, { id: 1, name: 'first' })
  await receiver.until(1)
  const store = await openStore({ database, lockTimeout: 60_000, sameThread: true })
  await eventually(async () => (await webhookIn(store, 'orders')).progress.lastSuccessAt)
  await store.close()
  await createPlant(first.url, TOKEN, { id: 2, name: 'not saved' })
  const locker = new Sqlite(database)
  t.teardown(() => locker.close())
  locker.exec('BEGIN IMMEDIATE')
  await receiver.until(2)
  const begin = performance.now()
  first.command.process.kill('SIGTERM')
  t.equal((await first.command.finished()).code, 0)
  const took = performance.now() - begin
  t.ok(took < STOP_MS_MAX, String(took))
  locker.exec('ROLLBACK')
  const second = await start()
  await createPlant(second.url, TOKEN, { id: 3, name: 'later' })
  const received = await receiver.untilDistinct(3)
  t.same([...bodiesByPlant(received).keys()].sort(), [1n, 2n, 3n])
})

/** Whether a service delivers the webhook. */
async function isOwner({ adminUrl }: { adminUrl: string }): Promise<boolean> {
  const page = await (await fetch(`${adminUrl}/metrics`)).text()
  return page.includes('plant_store_webhook_lag_seconds{')
}
