import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t from 'tap'
import { Command, MAIN } from '../../helpers/processes/command.ts'
import { runHere } from '../../helpers/processes/command-here.ts'
import { createPlant } from '../../helpers/service/client.ts'

const PLANTS = 'id,name,tag\n4,Abies alba Mill.,Tree\n'
const ONE_THREAD = 'plant-store: a database in memory is served by one thread\n'
const IN_MEMORY = ['--database', ':memory:', '--port', '0', '--log-level', 'silent']

t.test('--ready-json prints one line of JSON once the seed is stored', async (t) => {
  const seed = join(t.testdir({ 'plants.csv': PLANTS }), 'plants.csv')
  const command = new Command(t, [...IN_MEMORY, '--threads=4', '--ready-json', '--seed', seed])
  const [line] = await command.says(/.*\n/)
  const { url, page, docs, token, ...rest } = JSON.parse(line)
  t.strictSame(rest, {})
  t.equal(page, `${url}/`)
  t.equal(docs, `${url}/documentation`)
  const other = await createPlant(url, token, { id: 4, name: 'Abies balsamea (L.) Mill.' })
  t.equal(other.status, 409)
  command.process.kill('SIGTERM')
  t.strictSame(await command.finished(), { code: 0, stdout: line, stderr: ONE_THREAD })
})

t.test('an invalid seed stops the start with a one-line error', async (t) => {
  const folder = t.testdir({ 'plants.csv': `${PLANTS}5,,Tree\n` })
  const database = join(folder, 'plants.db')
  const seed = join(folder, 'plants.csv')
  const stopped = { code: 1, stdout: '' }
  t.strictSame(await runHere(['--port=0', '--database', database, '--seed', seed]), {
    ...stopped,
    stderr: `plant-store: cannot seed from ${seed}: line 3: name is missing\n`,
  })
  const nowhere = join(folder, 'nowhere.csv')
  const other = join(folder, 'other.db')
  t.strictSame(await runHere(['--port=0', '--database', other, '--seed', nowhere]), {
    ...stopped,
    stderr: `plant-store: cannot read ${nowhere}: no such file or directory\n`,
  })
  t.notOk(existsSync(other), 'no database is created')
})

t.test('the service stops when npm is killed', async (t) => {
  // npm runs commands in a shell.
  const shell = spawn('/bin/sh', ['-c', '"$@"; :', 'sh', process.execPath, MAIN, ...IN_MEMORY], {
    env: { ...process.env, npm_lifecycle_event: 'npx' },
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  })
  t.teardown(() => {
    try {
      process.kill(-Number(shell.pid), 'SIGKILL')
    } catch {
      // The process group has ended, as it should.
    }
  })
  const [first] = await once(createInterface(shell.stdout), 'line')
  t.match(first, 'listening on')
  shell.kill('SIGTERM')
  // The shell ends immediately, but the service keeps the pipe open until it ends too.
  await once(shell, 'close')
  await t.rejects(fetch(first.replace(/.* /, '')), { cause: { code: 'ECONNREFUSED' } })
})
