/** Checks a built image. Arguments: the folder where it is mounted, and one for temporary files. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createClient } from '../../client/client.ts'
import { type Image, VOLUME } from './container.ts'
import { checkPages, HOST, PORT, passed, SERVICE, start, stop } from './service.ts'

/** The index takes more memory than SQLite uses to sort it, as that of a migration can: it needs a temporary file. */
const CREATE_LARGE_INDEX = `
  new (require('/app/node_modules/better-sqlite3'))(':memory:').exec(\`
    CREATE TABLE plants AS
      WITH RECURSIVE ids (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids WHERE id < 40000)
      SELECT id, printf('%.1000d', id) AS tag FROM ids;
    CREATE INDEX plants_by_tag ON plants (tag)\`)`

const PLANT = { id: 4n, name: 'Abies alba Mill.', tag: 'Tree' }

const [root = '', folder = ''] = process.argv.slice(2)
const { config } = JSON.parse(readFileSync(join(folder, 'image.json'), 'utf8')).Docker
const image: Image = { root, folder, config }
// Kubernetes cannot tell whether a name means root.
assert.match(config.User, /^\d+:\d+$/)
// A copy of the image's folder with its owner and mode, which is what Docker puts into a new volume.
const volume = join(folder, 'volume')
execFileSync('cp', ['--archive', join(root, VOLUME), volume])

let container = await start('starts with a new volume', image, volume)

const [kind, ...healthCheck] = config.Healthcheck.Test
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
await checkPages()
await container.exec(['plant-store', 'backup', `${VOLUME}/copy.db`])
await container.exec(['plant-store', 'check', '--database', `${VOLUME}/copy.db`])
await container.exec(['/app/node/bin/node', '-e', CREATE_LARGE_INDEX])
passed('works with a root that is read-only')

await stop('stops', container)
container = await start('starts with an existing volume', image, volume)
const stored = await client.getPlant(PLANT.id)
assert.deepEqual(stored.plant, PLANT)
passed('keeps plants and the token in the volume')

const socket = await sendHalfARequest()
await stop('stops in spite of an unfinished request', container)
socket.destroy()

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
