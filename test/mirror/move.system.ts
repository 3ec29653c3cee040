/**
 * Moves a service with tokens and a webhook from SQLite to PostgreSQL with the commands of docs/mirrors.md in their order,
 * and back. test/consistency/disasters.system.ts does it while clients change the plants.
 */
import { writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { webhookEvents } from '../../service/webhook-store.ts'
import { Command, run } from '../helpers/processes/command.ts'
import { until } from '../helpers/processes/until.ts'
import { postgres } from '../helpers/service/engine.ts'
import { AUTHORITY, startReceiver } from '../webhooks/receiver.ts'

const READ_LATEST = '/changes?after=latest'

/** A plant that does not exist, so that its removal changes nothing. */
const NO_PLANT = '/plants/0'

t.test('a move to PostgreSQL and back keeps tokens, webhooks and plants', async (t) => {
  const folder = t.testdir({ 'authority.pem': AUTHORITY })
  const source = join(folder, 'plants.db')
  const target = await (await postgres())(t)
  const receiver = await startReceiver(t)
  const bodies = () => receiver.received.map(({ body }) => body)

  const old = await serve(t, source)
  const token = await plantStore(
    t,
    ...['token', 'create', '--name', 'app', '--scope', 'read,write', '--database', source],
  )
  await plantStore(
    t,
    ...['webhook', 'add', '--name', 'orders', '--url', receiver.url],
    ...['--events', webhookEvents.join()],
    ...['--allow-private-webhooks', '--database', source],
  )
  const send = (method: string, url: string, plant?: object) =>
    fetch(url, {
      method,
      headers: { authorization: `Bearer ${token.trim()}`, 'content-type': 'application/json' },
      ...(plant !== undefined && { body: JSON.stringify(plant) }),
    })
  const create = async (url: string, id: number) =>
    t.equal((await send('POST', `${url}/plants`, { id, name: 'Abies' })).status, 200)
  const event = (id: number) => `{"id":${id},"name":"Abies"}`
  const accepts = (url: string) =>
    until('the service accepts changes', async () => {
      return (await send('DELETE', url + NO_PLANT)).status === 404
    })
  await create(old.url, 1)
  await receiver.until(1)

  t.comment('1. Mirror the service')
  const moveToken = join(folder, 'move-token')
  const created = await plantStore(t, 'token', 'create', '--name', 'move', '--database', source)
  writeFileSync(moveToken, created)
  const following = [old.url, '--database', target.database, '--token-file', moveToken]
  const mirror = new Command(t, ['mirror', ...following])
  await mirror.says(/caught up/)

  t.comment('2. Start the new service')
  const next = await serve(t, target.database)

  t.comment('3. Freeze the source')
  const { respond } = receiver
  const unanswered: ServerResponse[] = []
  receiver.respond = (response) => unanswered.push(response)
  await create(old.url, 2)
  await receiver.until(2)
  await plantStore(t, 'freeze', '--database', source)
  const cursor = cursorIn(await send('GET', old.url + READ_LATEST))

  t.comment('4. Compare')
  mirror.process.kill('SIGTERM')
  t.equal((await mirror.finished()).code, 0)
  await plantStore(t, 'mirror', ...following, '--once')
  t.match(await plantStore(t, 'compare', ...following), /^equal: 2 plants/)
  const stillRunning = new Command(t, ['mirror', ...following])

  t.comment('5. Copy tokens and webhooks')
  await plantStore(t, 'token', 'copy', source, '--database', target.database)
  const copying = ['webhook', 'copy', source, '--database', target.database]
  t.match(await run(t, copying), { code: 1, stderr: /undelivered events for orders/ })
  receiver.respond = respond
  for (const response of unanswered) response.writeHead(204).end()
  await plantStore(t, ...copying, '--wait')
  t.equal((await send('GET', next.url + READ_LATEST)).status, 200, 'the mirror can be read')
  const refused = await send('DELETE', next.url + NO_PLANT)
  t.equal(refused.status, 403, 'but not changed')
  t.match(await refused.text(), old.url)
  await stillRunning.says(/caught up/)

  t.comment('6. Promote the mirror')
  await plantStore(t, 'promote', '--database', target.database)
  await accepts(next.url)
  await create(next.url, 3)
  await receiver.until(3)
  t.same(bodies(), [1, 2, 3].map(event))
  t.equal((await send('GET', `${next.url}/changes?after=${cursor}`)).status, 410)
  t.equal((await send('DELETE', old.url + NO_PLANT)).status, 503, 'the source stays frozen')
  old.command.process.kill('SIGTERM')
  t.equal((await old.command.finished()).code, 0)
  const { code, stderr } = await stillRunning.finished()
  t.equal(code, 1)
  t.match(stderr, /has promoted the database/)

  t.comment('Going back')
  const back = join(folder, 'back.db')
  const backToken = join(folder, 'back-token')
  const issued = ['token', 'create', '--name', 'back', '--database', target.database]
  writeFileSync(backToken, await plantStore(t, ...issued))
  const returning = [next.url, '--database', back, '--token-file', backToken]
  await plantStore(t, 'mirror', ...returning, '--once')
  await plantStore(t, 'token', 'copy', target.database, '--database', back)
  const last = await serve(t, back)
  await plantStore(t, 'freeze', '--database', target.database)
  await plantStore(t, 'mirror', ...returning, '--once')
  t.match(await plantStore(t, 'compare', ...returning), /^equal: /)
  await plantStore(t, 'webhook', 'copy', target.database, '--wait', '--database', back)
  await plantStore(t, 'promote', '--database', back)
  await accepts(last.url)
  t.equal((await send('DELETE', `${last.url}/plants/1`)).status, 204)
  await receiver.until(4)
  t.same(bodies(), [...[1, 2, 3].map(event), '{"id":1}'], 'only the new event is delivered')
})

/** Starts a service, which can deliver webhooks to the receiver. */
async function serve(t: Test, database: string) {
  const args = ['serve', '--port', '0', '--ready-json', '--allow-private-webhooks']
  const env = { NODE_EXTRA_CA_CERTS: join(t.testdirName, 'authority.pem') }
  const command = new Command(t, [...args, '--database', database], { env })
  const { url }: { url: string } = JSON.parse((await command.says(/.*\n/))[0])
  return { command, url }
}

/** Resolves to the standard output of a command that must succeed. */
async function plantStore(t: Test, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(t, args)
  if (code !== 0) throw new Error(`plant-store ${args.join(' ')}: ${stdout}${stderr}`)
  return stdout
}

function cursorIn({ headers }: Response): string {
  return /after=([^&>]+)/.exec(headers.get('link') ?? '')?.[1] as string
}
