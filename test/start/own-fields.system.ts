import t, { type Test } from 'tap'
import type { OwnField } from '../../core/members/own-fields.ts'
import { Command } from '../helpers/processes/command.ts'
import { runHere } from '../helpers/processes/command-here.ts'
import { postgres, sqlite } from '../helpers/service/engine.ts'
import { writeOverlay } from '../helpers/service/overlay.ts'

const TOKEN = 'a-token-for-this-test'

const height = (maximum: number): OwnField => ({
  name: 'height',
  schema: { type: 'integer', format: 'int32', minimum: 0, maximum },
})
const light: OwnField = { name: 'light', schema: { type: 'string', enum: ['sun', 'shade'] } }
const serial: OwnField = { name: 'serial', schema: { type: 'integer', format: 'int64' } }

/** A service in a process of its own. */
class Served {
  readonly command: Command
  readonly #url: string

  constructor(command: Command, url: string) {
    this.command = command
    this.#url = url
  }

  async call(method: string, path: string, plant?: object): Promise<string> {
    const response = await fetch(new URL(path, this.#url), {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      ...(plant !== undefined && { body: JSON.stringify(plant) }),
    })
    const body = await response.text()
    return response.ok ? body : `${response.status}: ${JSON.parse(body).message}`
  }

  async stop(): Promise<void> {
    this.command.process.kill('SIGTERM')
    const { code } = await this.command.finished()
    if (code !== 0) throw new Error(this.command.stderr)
  }
}

/** Starts services on one database. */
function starter(t: Test, database: string) {
  const env = { PLANT_STORE_TOKEN: TOKEN }
  const contractOf = (fields?: readonly OwnField[]) =>
    fields === undefined ? [] : ['--contract', writeOverlay(t, fields)]
  const argsOf = (fields?: readonly OwnField[]) => [
    ...['--port', '0', '--database', database],
    ...contractOf(fields),
  ]
  return {
    serve: async (fields?: readonly OwnField[], options: readonly string[] = []) => {
      const command = new Command(t, [...argsOf(fields), ...options], { env })
      return new Served(command, await command.listening())
    },
    refused: async (fields?: readonly OwnField[]) => {
      const { code, stdout, stderr } = await runHere(argsOf(fields), env)
      t.match({ code, stdout }, { code: 1, stdout: '' })
      return stderr
    },
    check: (fields: readonly OwnField[]) =>
      runHere(['check', '--database', database, ...contractOf(fields)]),
  }
}

t.test('each start follows the contract, and no value is lost', async (t) => {
  const { database } = await sqlite(t)
  const { serve, refused, check } = starter(t, database)
  const plant = { id: 1, name: 'Abies', height: 400, light: 'sun' }
  let service = await serve()
  t.equal(await service.call('POST', '/plants', plant), '{"name":"Abies"}', 'ignored')
  await service.call('DELETE', '/plants/1')
  await service.stop()

  service = await serve([height(500), light])
  t.equal(service.command.stderr.includes('hidden'), false)
  const created = '{"name":"Abies","height":400,"light":"sun"}'
  t.equal(await service.call('POST', '/plants', plant), created)
  t.match(
    await service.call('POST', '/plants', { ...plant, height: 501 }),
    /^400: .*body\/height must be .*500/,
  )
  await service.stop()

  t.match(await refused(), /^plant-store: the database has fields .*: height, light; .*\n$/)
  t.match(await refused([height(300), light]), /^plant-store: .*\(height.*500.*300\).*\n$/)
  t.match(await check([height(300), light]), { code: 2, stdout: /plant 1: height must be/ })
  t.match(await refused([height(300), light]), /300/)

  for (const [threads, stored, next] of [
    ['1', 400, 300],
    ['2', 300, 200],
  ] as const) {
    service = await serve([height(1000)], ['--threads', threads])
    t.match(service.command.stderr, /the contract does not have these fields.*: light/)
    const shown = `{"id":1,"name":"Abies","height":${stored}}`
    t.equal(await service.call('GET', '/plants/1'), shown)
    t.equal(await service.call('GET', '/plants'), `[${shown}]`)
    t.notMatch(await service.call('GET', '/changes'), /light/)
    await service.call('PUT', '/plants/1', { name: 'Abies', height: next })
    await service.stop()
  }

  service = await serve(undefined, ['--hide-fields'])
  t.match(service.command.stderr, /the contract does not have these fields.*: height, light/)
  t.equal(await service.call('GET', '/plants/1'), '{"id":1,"name":"Abies"}')
  await service.stop()

  t.match(await check([light, height(300)]), {
    code: 0,
    stdout: /the service can start with it\n$/,
  })
  service = await serve([light, height(300)])
  const shown = '{"id":1,"name":"Abies","height":200,"light":"sun"}'
  t.equal(await service.call('GET', '/plants/1'), shown)
  await service.stop()
})

t.test('processes with different fields share a database', async (t) => {
  const { database } = await (await postgres())(t)
  const { serve, refused } = starter(t, database)
  let old = await serve([height(500)])
  await old.call('POST', '/plants', { id: 1, name: 'Abies', height: 100 })
  const next = await serve([height(1000), light, serial])
  const plant = { id: 1, name: 'Abies', height: 1000, light: 'sun', serial: 7 }
  await next.call('PUT', '/plants/1', plant)
  const all = '{"id":1,"name":"Abies","height":1000,"light":"sun","serial":7}'
  t.equal(await old.call('GET', '/plants/1'), all, 'the old process shows what it does not know')
  await old.call('PUT', '/plants/1', { name: 'Abies', height: 100 })
  await old.call('PATCH', '/plants/1', { name: 'Abies alba' })
  const kept = '{"id":1,"name":"Abies alba","height":100,"light":"sun","serial":7}'
  t.equal(await next.call('GET', '/plants/1'), kept, 'and keeps it')

  await old.stop()
  t.match(await refused([height(500)]), /height.*1000.*500/)
  old = await serve([height(1000), light])
  t.match(old.command.stderr, /: serial/)
  t.equal(
    await old.call('GET', '/plants/1'),
    '{"id":1,"name":"Abies alba","height":100,"light":"sun"}',
  )
  t.equal(await next.call('GET', '/plants/1'), kept, 'the other process does not notice')
  await old.stop()
  old = await serve([height(1000), light, serial])
  t.equal(await old.call('GET', '/plants/1'), kept)
  await Promise.all([old.stop(), next.stop()])
})
