import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import t, { type Test } from 'tap'
import { Command } from '../../helpers/processes/command.ts'
import { halfACreate, logged } from '../../helpers/service/client.ts'

const TOKEN = 'a-token-of-the-environment'

/** Starts a service with a create that waits for a database locked by another process. */
async function startHanging(t: Test, ...args: string[]) {
  const database = join(t.testdir(), 'plants.db')
  const command = new Command(
    t,
    ['--port=0', '--lock-timeout=10m', '--database', database, ...args],
    {
      env: { PLANT_STORE_TOKEN: TOKEN },
    },
  )
  const url = await command.listening()
  const holder = new Sqlite(database)
  t.teardown(() => holder.close())
  holder.exec('BEGIN IMMEDIATE')
  const { socket, answers, rest } = await halfACreate(url, TOKEN, { id: 1, name: 'a' })
  socket.write(rest)
  return { command, answers }
}

t.test('a shutdown that hangs is cut short', async (t) => {
  const { command, answers } = await startHanging(t, '--shutdown-timeout=500ms')
  command.process.kill('SIGTERM')
  t.same(await answers, [])
  const { code, stderr } = await command.finished()
  t.equal(code, 1)
  t.notMatch(stderr, 'stopped')
  t.match(stderr, 'plant-store: ended before the database completed all changes')
})

t.test('a second signal ends the process even while the store waits', async (t) => {
  const { command, answers } = await startHanging(t, '--shutdown-timeout=10m')
  command.process.kill('SIGTERM')
  await logged(command, 'stopping')
  // A signal that follows the first one too soon counts as its echo.
  const impatience = setInterval(() => command.process.kill('SIGINT'), 50)
  t.same(await answers, [])
  clearInterval(impatience)
  const { code, stderr } = await command.finished()
  t.equal(code, 130)
  t.notMatch(stderr, 'stopped')
})
