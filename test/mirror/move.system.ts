/** Moves a service from SQLite to PostgreSQL under load, with the commands of docs/moving.md in their order, and back. */
import { writeFileSync } from 'node:fs'
import { Agent, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { webhookEvents } from '../../service/webhook-store.ts'
import { type PlantRow, toPlant } from '../../src/stores/shared/rows.ts'
import { Command, run } from '../helpers/command.ts'
import { type Answer, checkAnswer } from '../helpers/contract-check.ts'
import { postgres } from '../helpers/engine.ts'
import { until } from '../helpers/until.ts'
import { type HttpRequest, toJson } from '../load/changes.ts'
import { Load } from '../load/load.ts'
import { exchange } from '../load/requests.ts'
import { AUTHORITY, bodiesByPlant, startReceiver } from '../webhooks/receiver.ts'

/** The longest pause of a client between two requests, so that the webhook can keep up. */
const PAUSE_MS_MAX = 50

const READ_LATEST: HttpRequest = { method: 'GET', path: '/changes?after=latest' }

/** A change that needs no plant, and never makes one. */
const CHANGE: HttpRequest = { method: 'DELETE', path: '/plants/0' }

t.test('a move to PostgreSQL under load refuses changes for seconds and loses none', async (t) => {
  const folder = t.testdir({ 'authority.pem': AUTHORITY })
  const source = join(folder, 'plants.db')
  const target = await (await postgres())(t)
  const receiver = await startReceiver(t)

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
  const agent = new Agent()
  const send = async (url: string, request: HttpRequest): Promise<Answer> => {
    const answer = await exchange(agent, url, request, token.trim())
    if (answer === undefined) throw new Error(`no response to ${request.method} ${request.path}`)
    checkAnswer(request.method, request.path, answer)
    return answer
  }
  const load = new Load([old.url], { token: token.trim(), pauseMsMax: PAUSE_MS_MAX })
  await load.creates(500)

  t.comment('1. Mirror the service')
  const moveToken = join(folder, 'move-token')
  const created = await plantStore(t, 'token', 'create', '--name', 'move', '--database', source)
  writeFileSync(moveToken, created)
  const following = [old.url, '--database', target.database, '--token-file', moveToken]
  const mirror = new Command(t, ['mirror', ...following])
  await mirror.says(/caught up/)
  await load.creates(100)

  t.comment('2. Start the new service')
  const next = await serve(t, target.database)

  t.comment('3. Freeze the source')
  const { respond } = receiver
  const unanswered: ServerResponse[] = []
  receiver.respond = (response) => unanswered.push(response)
  await plantStore(t, 'freeze', '--database', source)
  const cursor = cursorIn(await send(old.url, READ_LATEST))

  t.comment('4. Compare')
  mirror.process.kill('SIGTERM')
  t.equal((await mirror.finished()).code, 0)
  await plantStore(t, 'mirror', ...following, '--once')
  t.match(await plantStore(t, 'compare', ...following), /^equal: /)
  const stillRunning = new Command(t, ['mirror', ...following])

  t.comment('5. Copy tokens and webhooks')
  await plantStore(t, 'token', 'copy', source, '--database', target.database)
  const copying = ['webhook', 'copy', source, '--database', target.database]
  t.match(await run(t, copying), { code: 1, stderr: /undelivered events for orders/ })
  receiver.respond = respond
  for (const response of unanswered) response.writeHead(204).end()
  await plantStore(t, ...copying, '--wait')
  t.equal((await send(next.url, READ_LATEST)).status, 200, 'the mirror can be read')
  const refused = await send(next.url, CHANGE)
  t.equal(refused.status, 403, 'but not changed')
  t.match(refused.body, old.url)

  await stillRunning.says(/caught up/)

  t.comment('6. Promote the mirror')
  await plantStore(t, 'promote', '--database', target.database)
  const isAccepted = async () => (await send(next.url, CHANGE)).status === 404
  await until('the new service accepts changes', isAccepted)
  load.requests.urls = [next.url]

  await load.creates(300)
  await load.end()
  const { history, requests, longestGap } = load
  const { statuses, undocumented } = requests
  const [begin, end] = longestGap
  t.comment({ acknowledged: history.acknowledged, statuses, gapMs: Math.round(end - begin) })
  t.same(undocumented, [])
  t.notMatch(Object.keys(statuses).join(), /GET (503|none)/, 'no read was refused')
  const rows = await target.query<PlantRow>('SELECT id, name, tag FROM plants')
  const stored = rows.map((row) => toPlant({ ...row, id: BigInt(row.id) }))
  t.same(history.compare(stored), { lost: [], duplicated: [] })

  t.equal((await send(next.url, { method: 'GET', path: `/changes?after=${cursor}` })).status, 410)
  t.equal((await send(old.url, CHANGE)).status, 503, 'the source stays frozen')

  const contents = new Map(stored.map((plant) => [plant.id, toJson(plant)]))
  await until('the last event of each plant has its content', () => {
    const bodies = bodiesByPlant(receiver.received)
    return (
      contents.keys().every((id) => bodies.has(id)) &&
      bodies.entries().every(([id, each]) => each.at(-1) === (contents.get(id) ?? `{"id":${id}}`))
    )
  })
  const events = new Set(receiver.received.map(({ event, body }) => `${event} ${body}`))
  t.equal(receiver.ids.size, events.size, 'each event was delivered by one of the services')

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
  const isBack = async () => (await send(last.url, CHANGE)).status === 404
  await until('the first engine accepts changes again', isBack)
  const delivered = receiver.received.length
  const removed: HttpRequest = { method: 'DELETE', path: `/plants/${stored[0]?.id}` }
  t.equal((await send(last.url, removed)).status, 204)
  await receiver.until(delivered + 1)
  t.equal(receiver.received.length, delivered + 1, 'only the new event is delivered')
  t.equal(receiver.received.at(-1)?.body, `{"id":${stored[0]?.id}}`)
  agent.destroy()
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

function cursorIn({ headers }: Answer): string {
  return /after=([^&>]+)/.exec(headers.link ?? '')?.[1] as string
}
