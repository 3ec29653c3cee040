import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { ConfigError } from '../../src/config/config.ts'
import { type PlantStoreOptions, startPlantStore } from '../../src/index.ts'
import { FileError } from '../../src/system/user-errors.ts'
import { withoutTap } from '../helpers/processes/command.ts'
import { createPlant, halfACreate } from '../helpers/service/client.ts'

const FIR = { id: 4n, name: 'Abies alba Mill.', tag: 'Tree' }

/** Starts a plant store that is closed after the test. */
async function startStore(t: Test, options?: PlantStoreOptions) {
  const running = await startPlantStore(options)
  t.teardown(running.close)
  return running
}

async function listPlants({ url, token }: { url: string; token: string }): Promise<string> {
  const headers = { authorization: `Bearer ${token}` }
  return (await fetch(`${url}/plants`, { headers })).text()
}

t.test(
  'several plant stores in one process have their own addresses, tokens and plants',
  async (t) => {
    const one = await startStore(t, { seed: [{ ...FIR, id: 2n ** 63n - 1n }] })
    const other = await startStore(t)
    const plants = '[{"id":9223372036854775807,"name":"Abies alba Mill.","tag":"Tree"}]'
    t.equal(await listPlants(one), plants)
    t.equal(await listPlants(other), '[]')
    t.equal((await createPlant(other.url, one.token, { id: 1, name: 'a' })).status, 401)
    t.equal((await createPlant(other.url, other.token, { id: 1, name: 'a' })).status, 200)
    t.match(other.token, /^plant_[\w-]{43}$/)
    await other.close()
    t.equal(await listPlants(one), plants, 'the first one still runs')
  },
)

t.test('close finishes the request in flight and can be called again', async (t) => {
  const { url, token, close } = await startStore(t)
  const { socket, answers, rest } = await halfACreate(url, token, { id: 1, name: 'a' })
  const closed = close()
  t.equal(close(), closed)
  socket.write(rest)
  t.match(await answers, [{ status: 200, headers: { connection: 'close' } }])
  await closed
  await t.rejects(fetch(url), { cause: { code: 'ECONNREFUSED' } })
})

const LEAKS = fileURLToPath(new URL('./leaks.ts', import.meta.url))

t.test('after closing, nothing keeps the process alive', async (t) => {
  const folder = t.testdir()
  const node = [process.execPath, '--disable-warning=ExperimentalWarning']
  const child = spawn(...withoutTap([...node, LEAKS, join(folder, 'plants.db')]), { cwd: folder })
  t.teardown(() => child.kill('SIGKILL'))
  const stderr = text(child.stderr)
  t.equal(await text(child.stdout), '200\n200\n200\n3\nnothing is left\n')
  t.equal(await stderr, '')
  t.same(readdirSync(folder), ['plants.db'])
})

t.test('`node --test` says which store a test file has forgotten to close', async (t) => {
  const index = new URL('../../src/index.ts', import.meta.url).href
  const file = `
    import test from 'node:test'
    import { startPlantStore } from ${JSON.stringify(index)}
    test('forgetful', async () => {
      await using closed = await startPlantStore()
      const { url, close } = await startPlantStore()
      process.once('warning', close)
      console.log('forgotten:', url)
    })
  `
  const folder = t.testdir({ 'forgetful.test.mjs': file })
  const child = spawn(process.execPath, ['--test', '--test-reporter=spec'], { cwd: folder })
  t.teardown(() => child.kill('SIGKILL'))
  const output = await text(child.stdout)
  const url = /forgotten: (\S+)/.exec(output)?.[1]
  const [warning, ...others] = output.match(/the plant store at .* keeps .*/g) ?? []
  t.equal(
    warning,
    `the plant store at ${url} keeps this process running until its close() is called`,
  )
  t.same(others, [])
  t.match(output, /It was started here:\n +at .*\bforgetful\.test\.mjs:6:/)
})

t.test('leaving an `await using` block cuts off a request that does not end', async (t) => {
  let answers: Promise<unknown[]>
  {
    await using running = await startPlantStore({ shutdownTimeout: 50 })
    const request = await halfACreate(running.url, running.token, { id: 1, name: 'a' })
    answers = request.answers
  }
  t.same(await answers, [])
})

t.test('settings can be given as options, and undefined options are ignored', async (t) => {
  const folder = t.testdir({ 'plants.csv': `id,name,tag\n4,${FIR.name},${FIR.tag}\n` })
  const database = join(folder, 'plants.db')
  const token = 'sixteen-letters.'
  const options = { database, token, seed: join(folder, 'plants.csv'), bodyLimit: 30 }
  const undefineds = { port: undefined, logLevel: undefined, host: undefined } as object
  const first = await startStore(t, { ...options, ...undefineds })
  t.equal(first.token, token)
  const large = await createPlant(first.url, token, { id: 1, name: 'a'.repeat(30) })
  t.equal(large.status, 413)
  await first.close()
  t.same(readdirSync(folder).sort(), ['plants.csv', 'plants.db'], 'no token file is written')
  const second = await startStore(t, options)
  t.equal(await listPlants(second), '[{"id":4,"name":"Abies alba Mill.","tag":"Tree"}]')
  // Its writer must not open the database once the folder is gone.
  await second.close()
})

t.test('embedding loads neither the packages of the command line nor faults', async (t) => {
  const program = `
    import { registerHooks } from 'node:module'
    registerHooks({
      load(url, context, next) {
        console.log(url)
        return next(url, context)
      },
    })
    const { startPlantStore } = await import(${JSON.stringify(new URL('../../src/index.ts', import.meta.url).href)})
    await (await startPlantStore()).close()
  `
  const child = spawn(...withoutTap([process.execPath, '--input-type=module', '--eval', program]))
  t.teardown(() => child.kill('SIGKILL'))
  const loaded = await text(child.stdout)
  t.match(loaded, '/node_modules/fastify/', 'the loaded modules are listed')
  t.notMatch(loaded, /node_modules\/(commander|cli-progress)\//)
  t.notMatch(loaded, '/src/faults/')
})

t.test('the environment is ignored', async (t) => {
  process.env.PLANT_STORE_PORT = 'invalid'
  t.teardown(() => delete process.env.PLANT_STORE_PORT)
  await startStore(t)
})

const bad = [
  { options: { port: 'x' }, says: /^invalid port 'x': expected an integer/ },
  { options: { port: 1.5 }, says: /^invalid port 1\.5: .* an integer from 0 to 65535$/ },
  { options: { rateLimit: null }, says: /rateLimit null: expected a rate such as/ },
  {
    options: { seed: [{ id: 1n }] },
    type: FileError,
    says: /^seed\[0\]: must have required property 'name'$/,
  },
  { options: { token: 'short' }, says: /^invalid token: expected at least 16 characters/ },
  {
    options: { prot: 1 },
    says: /^unknown option prot: expected one of host, port, .*, seed, faults, token$/,
  },
  { options: { readyJson: true }, says: /^unknown option readyJson/ },
]

for (const { options, type = ConfigError, says } of bad) {
  t.test(`the option ${Object.keys(options)} cannot be ${Object.values(options)}`, async (t) => {
    const error = await t.rejects(startPlantStore(options as unknown as PlantStoreOptions))
    t.type(error, type)
    t.match((error as Error).message, says)
  })
}

t.test('options accept the strings that the command line accepts', async (t) => {
  await startStore(t, { requestTimeout: '10s' as unknown as number, trustProxy: '10.0.0.0/8,::1' })
  await startStore(t, { logRequests: 'on' as 'all', host: '0.0.0.0' })
  const rateLimit = { requests: 1, window: 3_600_000 }
  const limited = await startStore(t, { rateLimit, authFailureLimit: 'off' })
  await listPlants(limited)
  t.match(await listPlants(limited), '"error":42902')
})

t.test('if the address is in use, the start fails and the database is closed', async (t) => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.teardown(() => other.close())
  const { port } = other.address() as AddressInfo
  const database = join(t.testdir(), 'plants.db')
  await t.rejects(startPlantStore({ database, port }), { code: 'EADDRINUSE' })
  t.notOk(existsSync(`${database}-wal`))
})
