/** `plant-store token copy` and `plant-store webhook copy`. */

import { join } from 'node:path'
import t, { type Test } from 'tap'
import { restrict } from '../../../service/restriction.ts'
import type { ChangePage } from '../../../service/store/change-feed.ts'
import { TokenStore } from '../../../service/token-store.ts'
import { WEBHOOKS_MAX, WebhookStore } from '../../../service/webhook-store.ts'
import { AccessTokens } from '../../../src/auth/access-tokens.ts'
import { inMemory, makeFolder } from '../../../tools/tap/temporary-folders.ts'
import { each } from '../../helpers/plants/lists.ts'
import { createIn } from '../../helpers/plants/single-changes.ts'
import { runHere } from '../../helpers/processes/command-here.ts'
import { CONSISTENT, makeMirror } from '../../helpers/service/mirrors.ts'
import { sql } from '../../stores/sqlite/files.ts'
import { newWebhook, save } from '../../stores/suites/webhook-suite.ts'
import { webhookIn } from '../../webhooks/setting.ts'
import { useStore } from '../use-store.ts'
import { replaceWaits } from '../waits.ts'

const UNTIL = new Date('2026-11-21T12:34:56.789Z')

/** Two databases, and the commands that copy from one to the other. */
async function databases(t: Test) {
  const folder = makeFolder(t, inMemory())
  const [from, to] = [join(folder, 'from.db'), join(folder, 'to.db')]
  for (const database of [from, to]) await useStore(database, async () => {})
  const copy = (what: string) => runHere([what, 'copy', from, '--database', to])
  return { from, to, use: useStore, copy }
}

t.test('copied tokens stay valid, and a second copy skips them', async (t) => {
  const { from, to, use, copy } = await databases(t)
  const issued = await use(from, async (store) => {
    const tokens = new AccessTokens(new TokenStore(store))
    const used = await tokens.issue({ name: 'used', scopes: ['read', 'write'] })
    await tokens.issue({ name: 'expiring', scopes: ['read'], lifetimeMs: 1000 })
    await new TokenStore(store).noteUse('used', UNTIL)
    return used as string
  })
  const tokensIn = (database: string) => use(database, (store) => new TokenStore(store).list())
  t.strictSame(await copy('token'), {
    code: 0,
    stdout: `copied expiring\ncopied used\ncopied 2 of 2 tokens to ${to}\n`,
    stderr: '',
  })
  t.same(await tokensIn(to), await tokensIn(from))
  const grant = await use(to, async (store) =>
    new AccessTokens(new TokenStore(store)).verify(issued),
  )
  t.match(grant, { name: 'used', scopes: ['read', 'write'] })
  await use(to, (store) => new TokenStore(store).noteUse('expiring', UNTIL))
  await use(from, (store) =>
    new AccessTokens(new TokenStore(store)).issue({ name: 'new', scopes: [] }),
  )
  t.strictSame(await copy('token'), {
    code: 0,
    stdout: `skipped expiring\ncopied new\nskipped used\ncopied 1 of 3 tokens to ${to}\n`,
    stderr: '',
  })
})

t.test('a copied webhook keeps its secrets and continues after the latest change', async (t) => {
  const { from, to, use, copy } = await databases(t)
  const webhooksIn = (database: string) =>
    use(database, async (store) =>
      (await new WebhookStore(store).list()).map(({ version: _, ...webhook }) => webhook),
    )
  await use(from, async (store) => {
    const rotation = { previousSecret: 'whsec_B', previousUntil: UNTIL }
    await new WebhookStore(store).add(
      newWebhook('rotated', { ...rotation, cursor: 'of another log' }),
    )
    await new WebhookStore(store).add(
      newWebhook('paused', { pausedAt: UNTIL, events: ['plantRemoved'] }),
    )
  })
  const latest = await use(to, async (store) => {
    await createIn(store, { id: 1n, name: 'before' })
    const page = await store.readChanges({ after: 'latest', limit: 1 })
    return typeof page === 'object' && page.next
  })
  const stdout = `copied paused\ncopied rotated\ncopied 2 of 2 webhooks to ${to}\n`
  t.strictSame(await copy('webhook'), { code: 0, stdout, stderr: '' })
  const withCursor = (await webhooksIn(from)).map((webhook) => ({
    ...webhook,
    progress: { ...webhook.progress, cursor: latest },
  }))
  t.same(await webhooksIn(to), withCursor)
  await use(to, (store) => new WebhookStore(store).resume('paused', false))
  t.match(await copy('webhook'), { code: 0, stdout: /^skipped paused\nskipped rotated\n/ })
  await use(from, (store) => new WebhookStore(store).rotateSecret('paused', 'whsec_C', UNTIL))
  t.match(await copy('webhook'), { code: 1, stderr: /has a different webhook named paused;/ })
})

t.test('a webhook is copied to a mirror again, to continue after the latest change', async (t) => {
  const { from, to, use, copy } = await databases(t)
  await use(from, (store) => new WebhookStore(store).add(newWebhook('orders')))
  await use(to, (store) => makeMirror(store))
  const copied = { code: 0, stdout: `copied orders\ncopied 1 of 1 webhooks to ${to}\n`, stderr: '' }
  t.strictSame(await copy('webhook'), copied)
  const latest = await use(to, async (store) => {
    const changes = each('put', [{ id: 1n, name: 'delivered by the source' }])
    await restrict(store, { expected: CONSISTENT, next: CONSISTENT, changes })
    const page = await store.readChanges({ after: 'latest', limit: 1 })
    return typeof page === 'object' && page.next
  })
  t.strictSame(await copy('webhook'), copied)
  const webhooks = await use(to, (store) => new WebhookStore(store).list())
  t.match(webhooks, [{ name: 'orders', progress: { cursor: latest } }])
})

/** A frozen database with an event that its webhook `orders` has not received, and another one. */
async function frozenDatabases(t: Test) {
  const { use, from, to, ...others } = await databases(t)
  await use(from, async (store) => {
    await createIn(store, { id: 1n, name: 'undelivered' })
    await new WebhookStore(store).add(newWebhook('orders'))
    await new WebhookStore(store).add(newWebhook('removals', { events: ['plantRemoved'] }))
    await restrict(store, { expected: undefined, next: 'frozen' })
  })
  /** Does what a service on the source does to its webhook. */
  const progress = (change: { cursor: string } | { pausedAt: Date }) =>
    use(from, async (store) => {
      const { progress } = await webhookIn(store, 'orders')
      t.equal(await save(store, 'orders', { ...progress, ...change }), true)
    })
  const deliver = async () => {
    const page = await use(from, (store) => store.readChanges({ after: 'latest', limit: 1 }))
    await progress({ cursor: (page as ChangePage).next })
  }
  const copying = ['webhook', 'copy', from, '--database', to]
  return { ...others, use, from, to, progress, deliver, copying }
}

t.test('webhooks of a frozen database are not copied before all is delivered', async (t) => {
  const { from, to, use, copy, progress } = await frozenDatabases(t)
  const refused = (state: string) => {
    const named = from.replaceAll('.', '\\.')
    const undelivered = `${named} has undelivered events for orders \\(lag \\d+m?s${state}\\)`
    return new RegExp(`^plant-store: ${undelivered}; nothing was copied. .*remove.*\n$`)
  }
  t.match(await copy('webhook'), { code: 1, stdout: '', stderr: refused('') })
  await progress({ pausedAt: UNTIL })
  for (const wait of [[], ['--wait']]) {
    const copied = await runHere(['webhook', 'copy', from, '--database', to, ...wait])
    t.match(copied, { code: 1, stdout: '', stderr: refused(', paused') })
  }
  t.same(await use(to, (store) => new WebhookStore(store).list()), [])
  await runHere(['webhook', 'remove', 'orders', '--database', from])
  t.match(await copy('webhook'), { code: 0, stdout: /^copied removals\n/ })
})

t.test('webhook copy --wait copies once all is delivered', async (t) => {
  const { from, use, to, deliver, copying } = await frozenDatabases(t)
  replaceWaits(t, async () => {
    t.same(await use(to, (store) => new WebhookStore(store).list()), [])
    await deliver()
  })
  t.strictSame(await runHere([...copying, '--wait']), {
    code: 0,
    stdout: `waiting for the service of ${from} to deliver to orders\ncopied orders\ncopied removals\ncopied 2 of 2 webhooks to ${to}\n`,
    stderr: '',
  })
})

t.test('a signal ends webhook copy --wait', async (t) => {
  const { copying } = await frozenDatabases(t)
  replaceWaits(t, () => process.emit('SIGINT'))
  const stderr = 'plant-store: interrupted: nothing was copied\n'
  const copied = await runHere([...copying, '--wait'])
  t.match(copied, { code: 130, stdout: /^waiting .*\n$/, stderr })
})

t.test('nothing is copied if there is a different token with the same name', async (t) => {
  const { from, to, use, copy } = await databases(t)
  const issue = (database: string, name: string) =>
    use(database, (store) =>
      new AccessTokens(new TokenStore(store)).issue({ name, scopes: ['read'] }),
    )
  for (const name of ['a', 'z']) await issue(from, name)
  await issue(to, 'z')
  const stderr = `plant-store: ${to} has a different token named z; nothing was copied\n`
  t.strictSame(await copy('token'), { code: 1, stdout: '', stderr })
  t.match(await use(to, (store) => new TokenStore(store).list()), [{ name: 'z' }])
})

t.test('nothing is copied if there would be too many webhooks', async (t) => {
  const { from, to, use, copy } = await databases(t)
  const add = async (database: string, first: number, count: number) =>
    use(database, async (store) => {
      for (let number = first; number < first + count; number++) {
        t.equal(await new WebhookStore(store).add(newWebhook(`webhook ${number}`)), 'added')
      }
    })
  await add(from, 0, 2)
  await add(to, 1, WEBHOOKS_MAX - 1)
  t.match(await copy('webhook'), { code: 0 })
  await add(from, WEBHOOKS_MAX, 1)
  const stderr = `plant-store: ${to} would have more than 100 webhooks; nothing was copied\n`
  t.strictSame(await copy('webhook'), { code: 1, stdout: '', stderr })
})

t.test('a name that is taken during the copy is reported', async (t) => {
  const { from, to, use, copy } = await databases(t)
  await use(from, (store) =>
    new AccessTokens(new TokenStore(store)).issue({ name: 'a', scopes: [] }),
  )
  // A token with another name and the same key conflicts only when it is added, like one that was added meanwhile.
  sql(`ATTACH '${from}' AS source; INSERT INTO plant_store_records
         SELECT kind, 'other', alias, value FROM source.plant_store_records`)(to)
  const stderr = `plant-store: token a was added to ${to} meanwhile\n`
  t.strictSame(await copy('token'), { code: 1, stdout: '', stderr })
})

t.test('a database cannot control the terminal', async (t) => {
  const { from, to, use, copy } = await databases(t)
  const hostile = 'a\u001b[2J\u009b2J\u007f\n'
  const name = 'a\\u001b[2J\\u009b2J\\u007f\\n'
  await use(from, async (store) => {
    await new AccessTokens(new TokenStore(store)).issue({ name: hostile, scopes: [] })
    await new WebhookStore(store).add(newWebhook(hostile))
  })
  for (const kind of ['token', 'webhook']) {
    const stdout = `copied ${name}\ncopied 1 of 1 ${kind}s to ${to}\n`
    t.strictSame(await copy(kind), { code: 0, stdout, stderr: '' })
    const { stdout: listed } = await runHere([kind, 'list', '--database', to])
    t.ok(listed.split('\n')[1]?.startsWith(`${name}  `))
  }
})
