import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import t from 'tap'
import { halfACreate } from '../helpers/client.ts'
import { Command } from '../helpers/command.ts'

const TOKEN = 'a-token-of-the-environment'

t.test('a stop that hangs is ended by force', async (t) => {
  const database = join(t.testdir(), 'plants.db')
  const args = ['--port=0', '--lock-timeout=7s', '--shutdown-timeout=500ms']
  const command = new Command(t, [...args, '--database', database], {
    env: { PLANT_STORE_TOKEN: TOKEN },
  })
  const url = await command.listening()
  const holder = new Sqlite(database)
  t.teardown(() => holder.close())
  holder.exec('BEGIN IMMEDIATE')
  const { socket, answers, rest } = await halfACreate(url, TOKEN, { id: 1, name: 'a' })
  socket.write(rest)
  command.process.kill('SIGTERM')
  t.same(await answers, [])
  const { code, stderr } = await command.finished()
  t.equal(code, 1)
  t.notMatch(stderr, 'stopped')
})
