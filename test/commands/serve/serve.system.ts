import { spawn } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { Command } from '../../helpers/processes/command.ts'
import { createPlant } from '../../helpers/service/client.ts'

const SECRET = /plant_[\w-]{43}/

/** Stands in for curl on a machine without it. */
const STAND_IN = `
const [url, ...options] = process.argv.slice(2)
const headers = []
let body
while (options.length > 0) {
  const [name, value] = options.splice(0, 2)
  if (name === '-H') headers.push(value.split(': '))
  else if (name === '-d') body = value
  else throw new Error(name)
}
const response = await fetch(url, { method: 'POST', headers, body })
console.log(await response.text())
`

async function paste(line: string, standIn: string): Promise<string> {
  const curl = 'command -v curl >&2 || curl() { "$NODE" "$STAND_IN" "$@"; }'
  const env = { ...process.env, NO_PROXY: '*', NODE: process.execPath, STAND_IN: standIn }
  const shell = spawn('sh', ['-c', `${curl}\n${line}`], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return text(shell.stdout)
}

function linesOf(stdout: string) {
  const field = (name: string) => new RegExp(`^  ${name} +(.*)$`, 'm').exec(stdout)?.[1] ?? ''
  return { docs: field('docs'), database: field('database'), token: field('token') }
}

t.test('objects of requests are allocated in the young generation', async (t) => {
  const traces = ['--trace-gc', '--trace-pretenuring-statistics']
  const command = new Command(t, ['--port', '0', '--database', ':memory:'], { node: traces })
  const url = await command.listening()
  const starting = command.stdout.length
  // Many at once, so that the objects live long.
  while (!/Scavenge.*\n[\s\S]*Scavenge/.test(command.stdout.slice(starting))) {
    const responses = Array.from({ length: 200 }, () => fetch(new URL('/health/live', url)))
    for (const response of await Promise.all(responses)) {
      if (response.status !== 200) t.fail(await response.text())
      await response.arrayBuffer()
    }
  }
  // V8 collects no statistics for pretenuring at all.
  t.notMatch(command.stdout.slice(starting), /pretenuring/)
})

t.test(
  'the greeting links to the docs and the token, and its curl command works as pasted',
  async (t) => {
    const folder = t.testdir({ 'stand-in.mjs': STAND_IN, "it's here": {} })
    const database = join(folder, "it's here", 'plants.db')
    const command = new Command(t, ['--port=0', '--database', database, '--log-level=trace'])
    const url = await command.listening()
    const { docs, token } = linesOf(command.stdout)
    t.equal(linesOf(command.stdout).database, database)
    t.equal(token, join(folder, "it's here", 'access-token'))
    const page = await fetch(docs)
    t.equal(page.status, 200)
    t.match(await page.text(), /<html/)

    const line = /^ {2}curl .*$/m.exec(command.stdout)?.[0] ?? ''
    t.ok(line.startsWith(`  curl '${url}/plants'`))
    const answer = await paste(line, join(folder, 'stand-in.mjs'))
    t.same(JSON.parse(answer), { name: 'Abies alba Mill.', tag: 'Tree' })
    t.equal(statSync(token).mode & 0o777, 0o600)
    const secret = readFileSync(token, 'utf8').trim()
    t.match(secret, SECRET)
    const other = await createPlant(url, secret, { id: 4, name: 'Abies balsamea (L.) Mill.' })
    t.equal(other.status, 409, 'curl has stored the plant')
    command.process.kill('SIGTERM')
    const { stdout, stderr } = await command.finished()
    t.notMatch(stdout + stderr, SECRET, 'the token is neither printed nor logged')
  },
)

t.test(
  'a token from the environment is valid, and only the name of its variable is printed',
  async (t) => {
    const folder = t.testdir()
    const token = 'sixteen-letters.'
    const command = new Command(t, ['--port', '0', '--database', join(folder, 'plants.db')], {
      env: { PLANT_STORE_TOKEN: token },
    })
    const url = await command.listening()
    t.equal(linesOf(command.stdout).token, 'in PLANT_STORE_TOKEN')
    t.match(command.stdout, '"Authorization: Bearer $PLANT_STORE_TOKEN"')
    t.equal((await createPlant(url, token, { id: 1, name: 'a' })).status, 200)
    t.equal((await createPlant(url, `${token}x`, { id: 1, name: 'a' })).status, 401)
    t.throws(() => statSync(join(folder, 'access-token')), { code: 'ENOENT' })
    command.process.kill('SIGTERM')
    const { stdout, stderr } = await command.finished()
    t.notMatch(stdout + stderr, token)
  },
)
