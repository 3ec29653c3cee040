/** A service that bundles the page at the first request, as it does in a checkout. */
import { chmodSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import t from 'tap'
import { logged } from '../../helpers/client.ts'
import { Command } from '../../helpers/command.ts'
import { until } from '../../helpers/until.ts'

const IN_MEMORY = ['--port=0', '--database', ':memory:']

/** Opens the page over a new connection. */
function open(url: string): Promise<Response> {
  return fetch(url, { headers: { accept: 'text/html', connection: 'close' } })
}

/** esbuild's program on this platform. */
function findEsbuild(): string {
  const { resolve } = createRequire(createRequire(import.meta.url).resolve('esbuild'))
  return resolve(`@esbuild/${process.platform}-${process.arch}/bin/esbuild`)
}

t.test('a page that cannot be bundled is an error, and the next request tries again', async (t) => {
  const esbuild = join(t.testdir({ esbuild: '#!/bin/sh\nexit 1\n' }), 'esbuild')
  const env = { ESBUILD_BINARY_PATH: esbuild }
  const service = new Command(t, IN_MEMORY, { env, measured: true })
  const url = await service.listening()
  const failures = () => service.stderr.match(/"msg":"the page cannot be loaded"/g)?.length ?? 0

  const answers = await Promise.all(Array.from({ length: 20 }, () => open(url)))
  for (const answer of answers) {
    t.equal(answer.status, 500)
    const message = "the page cannot be loaded: see the service's log"
    t.strictSame(await answer.json(), { error: 50001, message })
  }
  t.match(service.stderr, / EACCES"/)
  t.ok(failures() <= 2, 'the log has a line per second')
  t.equal((await fetch(`${url}/documentation`)).status, 200)

  chmodSync(esbuild, 0o755)
  await until('it is run', async () => {
    await open(url)
    return service.stderr.includes('The service was stopped')
  })

  rmSync(esbuild)
  symlinkSync(findEsbuild(), esbuild)
  await until('it works', async () => (await open(url)).status === 200)
  service.process.kill('SIGTERM')
  t.equal((await service.finished()).code, 0)
})

t.test('all HTTP threads serve the same page, and no process is left', async (t) => {
  const args = ['--port=0', '--threads=4', '--database', join(t.testdir(), 'plants.db')]
  const service = new Command(t, args)
  const url = await service.listening()
  const answers = await Promise.all(Array.from({ length: 64 }, () => open(url)))
  const seen = answers.map(({ status, headers }) => `${status} ${headers.get('etag')}`)
  t.equal(new Set(seen).size, 1)
  t.match(seen[0], /^200 W\//)
  const threads = answers.map(({ headers }) => headers.get('x-request-id')?.replace(/-\w+$/, ''))
  t.equal(new Set(threads).size, 4)
  const tasks = `/proc/${service.process.pid}/task`
  await until('all child processes have ended', () =>
    readdirSync(tasks).every((id) => readFileSync(`${tasks}/${id}/children`, 'utf8') === ''),
  )
  service.process.kill('SIGTERM')
  t.equal((await service.finished()).code, 0)
})

t.test('a stop waits for the page to be bundled, and no process is left', async (t) => {
  const file = join(t.testdir(), 'esbuild')
  const script = `echo $$ > "$0.pid"
    until [ -e "$0.go" ]; do sleep 0.1; done
    exec '${findEsbuild()}' "$@"`
  writeFileSync(file, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  const service = new Command(t, IN_MEMORY, { env: { ESBUILD_BINARY_PATH: file } })
  const answer = open(await service.listening())
  const pid = () => readFileSync(`${file}.pid`, 'utf8').trim()
  await until('the bundling has started', () => pid() !== '')
  service.process.kill('SIGTERM')
  await logged(service, '"stopping"')
  writeFileSync(`${file}.go`, '')
  t.equal((await answer).status, 200)
  t.equal((await service.finished()).code, 0)
  await until('the bundling has ended', () => !readdirSync('/proc').includes(pid()))
})

t.test('a service whose page nobody opens loads neither it nor its bundler', async (t) => {
  const preload = new URL('../../stores/loaded-packages.ts', import.meta.url).href
  const service = new Command(t, IN_MEMORY, { node: ['--import', preload] })
  await service.listening()
  service.process.kill('SIGTERM')
  const packages = JSON.parse((await service.finished()).stderr.split('\n').at(-1) ?? '')
  t.ok(packages.includes('fastify'))
  for (const name of ['esbuild', 'preact']) t.notOk(packages.includes(name), name)
})
