/** Checks a built image. Arguments: the folder where it is mounted, and one for temporary files. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createClient } from '../../client/client.ts'
import { Container, type Image, VOLUME } from './container.ts'

/** Not 127.0.0.1: a service that listened only there could not be reached from outside its container. */
const HOST = '127.0.0.2'
const PORT = 3000
const SERVICE = `http://${HOST}:${PORT}`

/** How long Docker waits between SIGTERM and SIGKILL. */
const GRACE_TIME_MS = 10_000

/** The index takes more memory than SQLite uses to sort it, as that of a migration can: it needs a temporary file. */
const CREATE_LARGE_INDEX = `
  new (require('/app/node_modules/better-sqlite3'))(':memory:').exec(\`
    CREATE TABLE plants AS
      WITH RECURSIVE ids (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids WHERE id < 40000)
      SELECT id, printf('%.1000d', id) AS tag FROM ids;
    CREATE INDEX plants_by_tag ON plants (tag)\`)`

const PLANT = { id: 4n, name: 'Abies alba Mill.', tag: 'Tree' }

const [root = '', folder = ''] = process.argv.slice(2)
const inspection = JSON.parse(readFileSync(join(folder, 'image.json'), 'utf8'))
const image: Image = { root, folder, config: inspection.Docker.config }
// Kubernetes cannot tell whether a name means root.
assert.match(image.config.User, /^\d+:\d+$/)
// A copy of the image's folder with its owner and mode, which is what Docker puts into a new volume.
const volume = join(folder, 'volume')
execFileSync('cp', ['--archive', join(root, VOLUME), volume])

/** The output of the latest container explains a failure. */
let latest: Container | undefined
process.on('exit', (code) => {
  if (code !== 0) console.error(latest?.output)
})

let container = await start('starts with a new volume')

const [kind, ...healthCheck] = image.config.Healthcheck.Test
assert.equal(kind, 'CMD')
await container.exec(healthCheck)
await assert.rejects(container.exec(['env', 'PLANT_STORE_PORT=1', ...healthCheck]), { code: 1 })
passed('its health check tells a service that is ready from one that is not')

assert.match(container.status(), /^Uid:\s+1000\s+1000\s+1000\s+1000$/m)
assert.match(container.status(), /^CapBnd:\s+0+$/m)
passed('runs as UID 1000 without capabilities')

await assert.rejects(container.exec(['touch', '/app/file']), /Read-only file system/)
await assert.rejects(container.exec(['touch', '/tmp/file']), /Read-only file system/)
const token = (await container.exec(['cat', `${VOLUME}/access-token`])).trim()
const client = createClient({ url: SERVICE, token })
await client.createPlant(PLANT)
assert.equal((await fetch(`${SERVICE}/documentation/`)).status, 200)
const page = await fetch(SERVICE, { headers: { accept: 'text/html' } })
assert.equal(page.status, 200)
assert.match(await page.text(), /page\/main\.js/)
assert.equal((await fetch(`${SERVICE}/page/main.js`)).status, 200)
await container.exec(['plant-store', 'backup', `${VOLUME}/copy.db`])
await container.exec(['plant-store', 'check', '--database', `${VOLUME}/copy.db`])
await container.exec(['node', '-e', CREATE_LARGE_INDEX])
passed('works with a root that is read-only')

await stop('stops')
container = await start('starts with an existing volume')
const stored = await client.getPlant(PLANT.id)
assert.deepEqual(stored.plant, PLANT)
passed('keeps plants and the token in the volume')

const socket = await sendHalfARequest()
await stop('stops in spite of an unfinished request')
socket.destroy()

/** Starts a container and waits until it is ready. */
async function start(title: string): Promise<Container> {
  const begin = performance.now()
  const container = new Container(image, volume)
  latest = container
  await container.says(/listening on/)
  const { status } = await fetch(`${SERVICE}/health/ready`)
  assert.equal(status, 200)
  passed(title, begin)
  return container
}

async function stop(title: string): Promise<void> {
  const begin = performance.now()
  assert.equal(await container.stop(), 0)
  assert.ok(performance.now() - begin < GRACE_TIME_MS)
  passed(title, begin)
}

function passed(title: string, begin?: number): void {
  const time = begin === undefined ? '' : ` (${Math.round(performance.now() - begin)} ms)`
  console.log(`ok ${title}${time}`)
}

/** Sends a request whose body never arrives. Resolves once the service has read its head. */
async function sendHalfARequest() {
  const socket = connect(PORT, HOST).on('error', () => {})
  const head = [
    'POST /plants HTTP/1.1',
    `Host: ${HOST}`,
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    'Content-Length: 100',
    'Expect: 100-continue',
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  await once(socket, 'data')
  return socket
}
