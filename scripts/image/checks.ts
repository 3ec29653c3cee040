/** Checks a built image. Arguments: the folder where it is mounted, and one for temporary files. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { createClient } from '../../client/client.ts'
import { migrate } from '../../src/stores/sqlite/sqlite-schema.ts'
import { Container, type Image, VOLUME } from './container.ts'

/** Not 127.0.0.1: a service that listened only there could not be reached from outside its container. */
const HOST = '127.0.0.2'
const PORT = 3000
const SERVICE = `http://${HOST}:${PORT}`

/** How long Docker waits between SIGTERM and SIGKILL. */
const GRACE_TIME_MS = 10_000

/** Their index takes more memory than SQLite uses to sort it, so it needs a temporary file. */
const OLD_PLANTS = 40_000

const PLANT = { id: 4n, name: 'Abies alba Mill.', tag: 'Tree' }

const [root = '', folder = ''] = process.argv.slice(2)
const inspection = JSON.parse(readFileSync(join(folder, 'image.json'), 'utf8'))
const image: Image = { root, folder, config: inspection.Docker.config }
// Kubernetes cannot tell whether a name means root.
assert.match(image.config.User, /^\d+:\d+$/)
const volume = makeVolume('volume')

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
passed('works with a root that is read-only')

await stop('stops')
container = await start('starts with an existing volume')
const stored = await client.getPlant(PLANT.id)
assert.deepEqual(stored.plant, PLANT)
passed('keeps plants and the token in the volume')

const socket = await sendHalfARequest()
await stop('stops in spite of an unfinished request')
socket.destroy()

container = await start('upgrades a large database', makeOldVolume())
await stop('stops again')

/** Starts a container and waits until it is ready. */
async function start(title: string, data = volume): Promise<Container> {
  const begin = performance.now()
  const container = new Container(image, data)
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

/** A copy of the image's folder with its owner and mode, which is what Docker puts into a new volume. */
function makeVolume(name: string): string {
  const path = join(folder, name)
  execFileSync('cp', ['--archive', join(root, VOLUME), path])
  return path
}

/** A volume with a database of the first version, whose upgrade creates an index. */
function makeOldVolume(): string {
  const path = makeVolume('old-volume')
  const file = join(path, 'plants.db')
  const db = new Sqlite(file)
  migrate(db, 1)
  const insert = db.prepare('INSERT INTO plants VALUES (?, ?, ?)')
  db.transaction(() => {
    for (let id = 0; id < OLD_PLANTS; id++) insert.run(id, 'a', `${id}`.padEnd(1000, '.'))
  })()
  db.close()
  execFileSync('chown', ['--reference', path, file])
  return path
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
