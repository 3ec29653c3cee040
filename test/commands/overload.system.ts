import { once } from 'node:events'
import { request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import Sqlite from 'better-sqlite3'
import t from 'tap'
import { createPlant } from '../helpers/client.ts'
import { Command } from '../helpers/command.ts'
import { type Answer, checkAnswer } from '../helpers/contract-check.ts'

const TOKEN = 'a-token-of-the-environment'

/** Just below the default body limit. */
const NAME = Buffer.alloc(2 ** 20 - 100, 'x')

/** How many such creates can wait: as many as have 64 Mi characters, rounded up. */
const ROOM = Math.ceil(2 ** 26 / NAME.length)

/** More creates than the heap of the service can hold. */
const SENT = 130
const HEAP = '--max-old-space-size=130'

t.test('a service that cannot write rejects requests before its memory is full', async (t) => {
  const database = join(t.testdir(), 'plants.db')
  const args = ['--port=0', '--lock-timeout=2m', '--request-timeout=2m', '--database', database]
  const command = new Command(t, args, {
    env: { PLANT_STORE_TOKEN: TOKEN },
    node: [HEAP],
  })
  const url = await command.listening()
  t.equal((await createPlant(url, TOKEN, { id: 0, name: 'before' })).status, 200)
  const holder = new Sqlite(database)
  t.teardown(() => holder.close())
  holder.exec('BEGIN IMMEDIATE')
  const first = createPlant(url, TOKEN, { id: 1, name: 'first' })
  // Requests are read in order, so the first create is in flight once these are answered.
  for (const _ of 'ab') t.equal((await fetch(`${url}/health/live`)).status, 200)

  const answers: Answer[] = []
  const refusals = Promise.withResolvers<void>()
  const sent = Array.from({ length: SENT }, async (_, index) => {
    answers.push(await createLarge(url, 2 + index))
    if (answers.length === SENT - ROOM) refusals.resolve()
  })
  await Promise.race([refusals.promise, Promise.all(sent)])
  t.equal(answers.length, SENT - ROOM, 'answered while the others wait')
  t.same(new Set(answers.map(statusOf)), new Set([503]))
  t.same(new Set(answers.map(({ headers }) => headers['retry-after'])), new Set(['1']))
  t.equal((await fetch(`${url}/health/live`)).status, 200)

  holder.exec('COMMIT')
  await Promise.all(sent)
  t.equal((await first).status, 200)
  // On a busy machine, some bodies still arrive, for which there may be no memory.
  const { 200: accepted = [], 503: rejected = [] } = Object.groupBy(answers, statusOf)
  t.equal(accepted.length + rejected.length, SENT)
  t.ok(accepted.length > 0)
  t.equal(holder.prepare('SELECT count(*) FROM plants').pluck().get(), 2 + accepted.length)
})

function statusOf({ status }: Answer): number {
  return status
}

async function createLarge(url: string, id: number): Promise<Answer> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
  const outgoing = request(`${url}/plants`, { method: 'POST', agent: false, headers })
  // A rejected request is answered before it has been sent, and then cut off.
  outgoing.on('error', () => {})
  outgoing.write(`{"id":${id},"name":"`)
  outgoing.write(NAME)
  outgoing.end('"}')
  const [response] = await once(outgoing, 'response')
  const { statusCode, headers: answered } = response
  const answer = { status: statusCode, headers: answered, body: await text(response) }
  checkAnswer('POST', '/plants', answer)
  return answer
}
