import Sqlite from 'better-sqlite3'
import t, { type Test } from 'tap'
import { formatHead } from '../helpers/network/connection.ts'
import { ask, formatRequest, type Line, openLines } from '../helpers/service/threads.ts'
import { sharedService } from './shared-service.ts'

const service = await sharedService()
const { token, database } = service

const MIB = 2 ** 20

const STORE_BUSY = 50_301
const SERVICE_BUSY = 50_303

/** Locks the database until `release` is called. */
function lockDatabase(t: Test): () => void {
  const holder = new Sqlite(database)
  t.teardown(() => holder.close())
  holder.exec('BEGIN IMMEDIATE')
  return () => holder.exec('COMMIT')
}

const codeOf = ({ body }: { body: string }) => JSON.parse(body).error

t.test('beyond its part of the limit on waiting changes, a thread rejects changes', async (t) => {
  const name = 'x'.repeat(MIB - 100)
  // As many as have 16 Mi characters, rounded up.
  const room = Math.ceil(2 ** 24 / name.length)
  const sent = 25
  const lines = await openLines(t, service, sent)
  const [{ thread = '' } = {}] = lines
  const own = lines.filter((line) => line.thread === thread)
  const other = lines.find((line) => line.thread !== thread) as Line
  const release = lockDatabase(t)

  const enough = Promise.withResolvers<void>()
  let rejected = 0
  const create = async ({ socket }: Line, id: number): Promise<number> => {
    const plant = JSON.stringify({ id, name })
    const answer = await ask(socket, formatRequest(token, 'POST /plants', plant))
    if (answer.status === 200) return 200
    // Too many bodies were being received at that moment.
    if (codeOf(answer) === SERVICE_BUSY) return create({ socket, thread }, id)
    t.equal(codeOf(answer), STORE_BUSY)
    if (++rejected === sent - room) enough.resolve()
    return answer.status
  }
  const large = own.map((line, index) => create(line, 200 + index))
  await Promise.race([enough.promise, Promise.all(large)])
  t.equal(rejected, sent - room, 'rejected while the others wait')
  const elsewhere = ask(other.socket, formatRequest(token, 'POST /plants', '{"id":-1,"name":"x"}'))
  for (const { socket } of await openLines(t, service)) {
    const { status } = await ask(socket, formatHead(service, 'GET /plants/-1'))
    t.equal(status, 404, 'reads still work')
  }

  release()
  const statuses = await Promise.all(large)
  t.equal(statuses.filter((status) => status === 200).length, room, 'the others are stored')
  t.equal((await elsewhere).status, 200, 'another thread still had room')
  for (const { socket } of await openLines(t, service)) {
    const again = formatRequest(token, 'POST /plants', '{"id":-2,"name":"accepted"}')
    t.equal((await ask(socket, again)).status, 200, 'there is room again in every thread')
  }
})
