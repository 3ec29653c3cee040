import t, { type Test } from 'tap'
import { WEBHOOKS_MAX, WebhookStore } from '../../service/webhook-store.ts'
import type { Store } from '../../src/stores/shared/store.ts'
import { RENEW_FEED } from '../../src/stores/sqlite/feed/change-triggers.ts'
import { importPlants } from '../helpers/plants/import-plants.ts'
import { createIn, removeFrom, updateIn } from '../helpers/plants/single-changes.ts'
import { runHere } from '../helpers/processes/command-here.ts'
import { sqlite } from '../helpers/service/engine.ts'
import { sql } from '../stores/sqlite/files.ts'
import { newWebhook, save } from '../stores/suites/webhook-suite.ts'
import { startReceiver, status } from '../webhooks/receiver.ts'
import { webhookIn } from '../webhooks/setting.ts'
import { useStore } from './use-store.ts'

const SECRET = /whsec_[A-Za-z0-9+/]{43}=/
const MINUTE = /\d{4}-\d\d-\d\dT\d\d:\d\dZ/
const URL = 'https://receiver.example/hook'

/** Runs `plant-store webhook …` on a database. */
async function commandsOf(t: Test) {
  const { database } = await sqlite(t)
  const use = <Result>(work: (store: Store) => Promise<Result>) => useStore(database, work)
  await use(async () => {})
  const webhook = (...args: string[]) => runHere(['webhook', ...args, '--database', database])
  const add = (name: string, ...args: string[]) =>
    webhook('add', '--name', name, '--url', URL, '--events', 'newPlant', ...args)
  return { database, use, webhook, add }
}

t.test('add prints the secret once, and list shows the webhooks without it', async (t) => {
  const { database, webhook, add, use } = await commandsOf(t)
  await use((store) => createIn(store, { id: 1n, name: 'before' }))
  const added = await add('orders')
  t.equal(added.code, 0)
  t.match(added.stdout, new RegExp(`^${SECRET.source}\n$`), 'standard output has nothing else')
  t.equal(
    added.stderr,
    `Sending newPlant in ${database} to orders from now on. This secret signs them. Keep it safe: it is not shown again.\n`,
  )
  const events = 'plantRemoved,newPlant'
  const oldest = await webhook(
    ...['add', '--name', 'all', '--url', URL, '--events', events, '--from-oldest'],
  )
  t.match(
    oldest.stderr,
    /^Sending newPlant, plantRemoved in .* to all from the oldest retained change on\. /,
  )
  t.equal((await use((store) => webhookIn(store, 'orders'))).secret, added.stdout.trim())
  const { stdout } = await webhook('list')
  t.notMatch(stdout, SECRET)
  t.match(
    stdout.split('\n').map((line) => line.split(/ {2,}/)),
    [
      ['NAME', 'EVENTS', 'STATE', 'LAG', 'LAST SUCCESS', 'LAST FAILURE', 'URL'],
      ['all', 'newPlant,plantRemoved', 'active', /^\d+(ms|s)$/, 'never', 'never', URL],
      ['orders', 'newPlant', 'active', 'none', 'never', 'never', URL],
    ],
  )
})

t.test('list shows successes, failures and pauses', async (t) => {
  const { webhook, add, use } = await commandsOf(t)
  for (const name of ['failing', 'paused', 'works']) await add(name)
  const at = new Date()
  const failed = { lastFailureAt: at, lastFailure: 'status 500', attempts: 3 }
  await use(async (store) => {
    for (const [name, progress] of Object.entries({
      works: { lastSuccessAt: at },
      failing: failed,
      paused: { ...failed, pausedAt: at, cursor: 'malformed' },
    })) {
      const { cursor } = (await webhookIn(store, name)).progress
      await save(store, name, { cursor, attempts: 0, ...progress })
    }
  })
  const { stdout } = await webhook('list')
  const failure = new RegExp(`^${MINUTE.source} status 500$`)
  t.match(
    stdout.split('\n').map((line) => line.split(/ {2,}/)),
    [
      ['NAME'],
      ['failing', 'newPlant', 'failing (3×)', 'none', 'never', failure],
      ['paused', 'newPlant', 'paused', 'expired', 'never', failure],
      ['works', 'newPlant', 'active', 'none', MINUTE, 'never'],
    ],
  )
})

t.test('the lag is that of the next change to deliver', async (t) => {
  const { webhook, add, use } = await commandsOf(t)
  const lag = async () => (await webhook('list')).stdout.split('\n')[1]?.split(/ {2,}/)[3]
  await add('orders')
  const plants = Array.from({ length: 1000 }, (_, id) => ({ id: BigInt(id), name: 'plant' }))
  await use((store) => importPlants(store, plants, 'stop'))
  t.match(await lag(), /^\d+m?s$/)
  await webhook('remove', 'orders')
  await add('orders', '--events', 'plantRemoved')
  await use(async (store) => {
    await updateIn(store, 1n, { name: 'other' })
  })
  t.equal(await lag(), 'none')
  const renamed = plants.map(({ id }) => ({ id, name: 'another' }))
  await use((store) => importPlants(store, renamed, 'replace'))
  t.match(await lag(), /^\d+m?s$/, 'there may be one among those that are not searched')
  await use((store) => removeFrom(store, 1n))
  t.match(await lag(), /^\d+m?s$/)
})

t.test('rotate prints a new secret', async (t) => {
  const { database, webhook, add, use } = await commandsOf(t)
  const old = (await add('orders')).stdout.trim()
  const { stdout, stderr } = await webhook('rotate', 'orders')
  t.match(stdout, new RegExp(`^${SECRET.source}\n$`))
  t.ok(stderr.startsWith(`Rotated the secret of orders in ${database}. `))
  t.match(stderr, new RegExp(`Until ${MINUTE.source}, deliveries are signed with the old secret`))
  const stored = await use((store) => webhookIn(store, 'orders'))
  t.match(stored, { secret: stdout.trim(), previousSecret: old })
  const hours = (Number(stored.previousUntil) - Date.now()) / 3_600_000
  t.ok(hours > 23 && hours <= 24)
})

t.test('remove and retry change the webhook', async (t) => {
  const { database, webhook, add, use } = await commandsOf(t)
  await add('orders')
  const { cursor } = (await use((store) => webhookIn(store, 'orders'))).progress
  for (const [options, next] of [
    [[], cursor],
    [['--from-oldest'], undefined],
  ] as const) {
    await use(async (store) => {
      const { progress } = await webhookIn(store, 'orders')
      await save(store, 'orders', { ...progress, attempts: 5, pausedAt: new Date() })
    })
    const stdout = `resumed orders in ${database}\n`
    t.strictSame(await webhook('retry', 'orders', ...options), { code: 0, stdout, stderr: '' })
    const { progress } = await use((store) => webhookIn(store, 'orders'))
    t.match(progress, { attempts: 0, pausedAt: undefined, cursor: next })
  }
  const stdout = `removed orders in ${database}\n`
  t.match(await webhook('remove', 'orders'), { code: 0, stdout })
  t.same(await use((store) => new WebhookStore(store).list()), [])
})

t.test('retry requires --from-oldest if changes were lost', async (t) => {
  const { database, webhook, add } = await commandsOf(t)
  await add('orders')
  sql(RENEW_FEED)(database)
  const { code, stderr } = await webhook('retry', 'orders')
  t.equal(code, 1)
  t.match(
    stderr,
    /^plant-store: cannot resume orders: .* no longer retained\. With --from-oldest, it continues/,
  )
  t.match(await webhook('retry', 'orders', '--from-oldest'), { code: 0 })
})

t.test('test delivers a sample', async (t) => {
  const { webhook, use } = await commandsOf(t)
  const receiver = await startReceiver(t, { plain: true })
  const allowed = '--allow-private-webhooks'
  const options = ['--url', receiver.url, '--events', 'plantRemoved', allowed]
  await webhook('add', '--name', 'plain', ...options)
  t.match(await webhook('test', 'plain', allowed), {
    code: 0,
    stdout: 'delivered test to plain: status 204\n',
  })
  t.match(receiver.received, [{ event: 'test', id: /^msg_[\w-]+$/, plant: 4n }])
  t.match(await webhook('test', 'plain'), {
    code: 1,
    stdout: '',
    stderr: /^plant-store: the delivery failed: webhooks require https/,
  })
  receiver.respond = status(410)
  t.match(await webhook('test', 'plain', allowed), {
    code: 1,
    stdout: '',
    stderr: /^plant-store: the receiver wants no events \(status 410\)/,
  })
  t.match(await use((store) => new WebhookStore(store).list()), [{ name: 'plain' }], 'still there')
})

t.test('a failed command prints one line and changes nothing', async (t) => {
  const { webhook, add, use } = await commandsOf(t)
  await add('taken')
  for (const command of ['remove', 'retry', 'rotate', 'test']) {
    const stderr = 'plant-store: webhook x does not exist\n'
    t.match(await webhook(command, 'x'), { code: 1, stdout: '', stderr }, command)
  }
  const taken = 'plant-store: webhook taken already exists\n'
  t.match(await add('taken'), { code: 1, stdout: '', stderr: taken })
  const insecure = await add('x', '--url', 'http://receiver.example')
  t.match(insecure, {
    code: 1,
    stdout: '',
    stderr:
      'plant-store: invalid --url: webhooks require https, except with --allow-private-webhooks\n',
  })
  await use(async (store) => {
    for (let number = 1; number < WEBHOOKS_MAX; number++) {
      await new WebhookStore(store).add(newWebhook(`webhook ${number}`))
    }
  })
  const full = 'plant-store: there are already 100 webhooks: remove one first\n'
  t.match(await add('one-more'), { code: 1, stderr: full })
})

t.test('the URL is stored without control characters', async (t) => {
  const { webhook, use } = await commandsOf(t)
  const url = 'HTTPS://receiver.example/\u001b[2J?\u009b\n'
  const added = await webhook('add', '--name', 'x', '--url', url, '--events', 'newPlant')
  t.equal(added.code, 0)
  const stored = 'https://receiver.example/%1B[2J?%C2%9B'
  t.equal((await use((store) => webhookIn(store, 'x'))).url, stored)
  const { stdout } = await webhook('list')
  t.ok(stdout.endsWith(`${stored}\n`))
})
