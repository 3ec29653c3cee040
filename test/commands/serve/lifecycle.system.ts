import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import t, { type Test } from 'tap'
import { Command } from '../../helpers/processes/command.ts'
import { runHere } from '../../helpers/processes/command-here.ts'
import { createPlant, halfACreate } from '../../helpers/service/client.ts'

const TOKEN = 'a-token-of-the-environment'
const FIR = { id: 4, name: 'Abies alba Mill.' }

async function start(t: Test, args: string[] = []) {
  const database = join(t.testdir(), 'plants.db')
  const command = new Command(t, ['--port', '0', '--database', database, ...args], {
    env: { PLANT_STORE_TOKEN: TOKEN },
  })
  return { command, database, url: await command.listening() }
}

/** Resolves once the port refuses connections. */
async function refusesConnections(url: string): Promise<void> {
  for (let refused = false; !refused; ) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    refused = await once(socket, 'connect').then(
      () => false,
      (error) => error.code === 'ECONNREFUSED',
    )
    socket.destroy()
  }
}

t.test('SIGINT and its echo finish the request in flight and then end the process', async (t) => {
  const { command, database, url } = await start(t)
  t.equal((await createPlant(url, TOKEN, { id: 1, name: 'a' })).status, 200)
  const { socket, answers, rest } = await halfACreate(url, TOKEN, FIR)
  for (const _ of 'ab') command.process.kill('SIGINT')
  await refusesConnections(url)
  socket.write(rest)
  t.match(await answers, [{ status: 200, headers: { connection: 'close' } }])
  const { code, stderr } = await command.finished()
  t.equal(code, 0)
  t.match(stderr, /"msg":"stopping"}\n.*"msg":"stopped"}\n$/)
  t.notOk(existsSync(`${database}-wal`), 'the database is closed')
  const db = new Sqlite(database, { readonly: true })
  t.same(db.prepare('SELECT id FROM plants').pluck().all(), [1, 4])
  db.close()
})

t.test('a request that never ends does not delay the stop', async (t) => {
  const { command, database, url } = await start(t, ['--shutdown-timeout', '200ms'])
  const { answers } = await halfACreate(url, TOKEN, FIR)
  command.process.kill('SIGTERM')
  t.same(await answers, [], 'its connection is cut off')
  t.match(await command.finished(), { code: 0, stderr: /"msg":"stopped"/ })
  t.notOk(existsSync(`${database}-wal`))
})

t.test('reads that wait do not delay the stop', async (t) => {
  const { command, url } = await start(t)
  for (let id = 1; id <= 20; id++) {
    t.equal((await createPlant(url, TOKEN, { id, name: 'x'.repeat(1_000_000) })).status, 200)
  }
  const request = `GET /plants?limit=1000 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`
  const answered = Array.from({ length: 500 }, async () => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
    socket.write(request)
    await once(socket, 'data')
    socket.resume()
  })
  await Promise.race(answered)
  command.process.kill('SIGTERM')
  t.match(await command.finished(), { code: 0, stderr: /"msg":"stopped"/ })
})

t.test('an unavailable address stops the start with a one-line error', async (t) => {
  const folder = t.testdir()
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.teardown(() => other.close())
  const { port } = other.address() as AddressInfo
  const cases = [
    { args: ['--port', `${port}`], says: `EADDRINUSE: address already in use 127.0.0.1:${port}` },
    { args: ['--port=0', '--host', 'no..host'], says: /getaddrinfo \w+ no\.\.host/ },
  ]
  for (const { args, says } of cases) {
    const finished = await runHere([...args, '--database', join(folder, 'plants.db')])
    t.match(finished, { code: 1, stdout: '', stderr: /^plant-store: .*\n$/ }, args.join(' '))
    t.match(finished.stderr, says)
    t.notOk(existsSync(join(folder, 'plants.db-wal')), 'the database is closed')
  }
})
