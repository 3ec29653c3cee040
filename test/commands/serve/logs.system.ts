import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { Command, MAIN, withoutTap } from '../../helpers/processes/command.ts'

const TOKEN = 'a-token-of-the-environment'

/** Starts a command that first runs `script` in its process. */
function startPrepared(t: Test, script: string, ...args: string[]): Command {
  const folder = t.testdir({ 'prepare.mjs': script })
  const prepare = pathToFileURL(join(folder, 'prepare.mjs'))
  return new Command(t, ['--port', '0', '--database', join(folder, 'plants.db'), ...args], {
    env: { PLANT_STORE_TOKEN: TOKEN },
    node: [`--import=${prepare}`],
  })
}

function linesOf(log: string) {
  return log
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

t.test('each request is logged as a JSON line with its id and without secrets', async (t) => {
  const args = ['--port', '0', '--database', join(t.testdir(), 'plants.db'), '--log-level', 'trace']
  const command = new Command(t, [...args, '--log-requests'], {
    env: { PLANT_STORE_TOKEN: TOKEN },
  })
  const url = await command.listening()
  const requests = [
    { token: TOKEN, body: '{"id": 1, "name": "the-plant-of-the-body"}', status: 200 },
    { token: 'a-wrong-token', body: '{}', status: 401 },
    { token: TOKEN, body: '{"id": "the-id-of-the-body"}', status: 400 },
    { token: TOKEN, body: '{"the-broken-body', status: 400 },
    { token: TOKEN, body: '{"id": 1}', query: '?access_token=in-the-query', status: 400 },
  ]
  for (const { token, body, query = '', status } of requests) {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const response = await fetch(`${url}/plants${query}`, { method: 'POST', headers, body })
    t.equal(response.status, status, await response.text())
  }
  command.process.kill('SIGTERM')
  const { stderr } = await command.finished()
  const lines = linesOf(stderr)
  const answered = lines.filter(({ msg }) => msg === 'response sent')
  t.match(
    answered,
    requests.map(({ status }) => ({
      level: 30,
      requestId: String,
      method: 'POST',
      path: '/plants',
      status,
      milliseconds: Number,
    })),
  )
  t.equal(new Set(answered.map(({ requestId }) => requestId)).size, requests.length)
  t.notMatch(stderr, /a-token-of|a-wrong-token|-of-the-body|broken-body|in-the-query/)
})

t.test('by default, neither requests nor warnings are logged', async (t) => {
  const args = ['--port=0', '--admin-port=0', '--database', join(t.testdir(), 'plants.db')]
  const command = new Command(t, args)
  const url = await command.listening()
  await (await fetch(`${url}/health/live`)).text()
  command.process.kill('SIGTERM')
  const { code, stderr } = await command.finished()
  t.equal(code, 0)
  t.notMatch(stderr, 'health/live')
  const lines = linesOf(stderr)
  t.ok(lines.length > 0)
  t.same(
    lines.filter(({ level }) => level >= 40),
    [],
  )
})

const noTerminal = spawnSync('script', ['--version']).error && 'requires script from util-linux'
t.test(
  'Ctrl-C on a terminal stops the service, which logs the shutdown',
  { skip: noTerminal ?? false },
  async (t) => {
    const line = 'exec "$NODE" "$MAIN" --port 0 --database "$DATABASE"'
    const terminal = spawn(...withoutTap(['script', '-qec', line, '/dev/null']), {
      env: {
        ...process.env,
        NODE: process.execPath,
        MAIN,
        DATABASE: join(t.testdir(), 'plants.db'),
      },
    })
    t.teardown(() => terminal.kill('SIGKILL'))
    let shown = ''
    terminal.stdout.setEncoding('utf8').on('data', (chunk) => {
      shown += chunk
      if (/^ {2}curl /m.test(shown) && terminal.stdin.writable) terminal.stdin.end('\x03')
    })
    const [code] = await once(terminal, 'close')
    t.equal(code, 0)
    t.match(shown, /INFO.*: .*Server listening at/)
    t.match(shown, /INFO.*: .*stopping[\s\S]*INFO.*: .*stopped/)
    t.notMatch(shown, '{"level"')
  },
)

t.test('an unexpected error ends the process with code 1 and prints its stack', async (t) => {
  const failing = `Object.defineProperty(process.stderr, 'isTTY', {
    get() { throw new Error('a defect') },
  })`
  const { code, stdout, stderr } = await startPrepared(t, failing).finished()
  t.equal(code, 1)
  t.equal(stdout, '')
  t.match(stderr, /Error: a defect\n +at /)
})
