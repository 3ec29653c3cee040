/**
 * Checks the archive in an empty Debian: as a user who can write nothing, and with a database of this checkout's
 * service. Arguments: Debian's root file system, and a folder for temporary files.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chownSync, globSync, mkdirSync, openSync, symlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import { startPlantStore } from '../../src/index.ts'
import { type Image, VOLUME } from './container.ts'
import { checkPages, HOST, PORT, passed, SERVICE, start, stop } from './service.ts'

const USER = 1001
const TOKEN = 'sixteen-letters.'
/** Where the container sees the database. */
const FILE = join(VOLUME, 'plants.db')

const [root = '', folder = ''] = process.argv.slice(2)
const volume = join(folder, 'archive-volume')
mkdirSync(volume)
mkdirSync(join(root, VOLUME))

const [archive = ''] = globSync(`dist/release/*-linux-${process.arch}.tar.gz`)
const begin = performance.now()
chownSync(join(root, 'srv'), USER, USER)
execFileSync('chroot', [`--userspec=${USER}:${USER}`, root, 'tar', '-xzC', '/srv'], {
  stdio: [openSync(archive, 'r'), 'inherit', 'inherit'],
})
passed('is unpacked by an empty Debian', performance.now() - begin)
// As a link in a folder that is on the path.
const program = join('/srv', basename(archive, '.tar.gz'), 'plant-store')
symlinkSync(`../../..${program}`, join(root, 'usr/local/bin/plant-store'))

const image = (...entrypoint: readonly string[]): Image => ({
  root,
  folder,
  config: {
    User: `${USER}:${USER}`,
    Env: [
      'PATH=/usr/local/bin:/usr/bin:/bin',
      `PLANT_STORE_HOST=${HOST}`,
      `PLANT_STORE_PORT=${PORT}`,
      `PLANT_STORE_TOKEN=${TOKEN}`,
    ],
    Entrypoint: entrypoint,
    WorkingDir: '/',
  },
})

let container = await start(
  'starts from an archive where nothing can be written',
  image(program, '--database', ':memory:'),
  volume,
)
for (const place of ['/srv', '/tmp', VOLUME]) {
  await assert.rejects(container.exec(['touch', `${place}/file`]), /Read-only|Permission denied/)
}
assert.equal(await listPlants(SERVICE), '[]')
await checkPages()
passed('serves the page, the docs and the guides')
await stop('stops', container)

const database = join(volume, basename(FILE))
const checkout = await startPlantStore({ database, token: TOKEN, seed: 'data/sample.csv' })
const plants = await listPlants(checkout.url)
await checkout.close()
for (const file of [volume, database]) chownSync(file, USER, USER)
container = await start(
  'starts with a database of a checkout',
  image('plant-store', '--database', FILE),
  volume,
)
assert.equal(await listPlants(SERVICE), plants)
assert.match(plants, /Abies/)
passed('serves the same plants')
// Node verifies the copy in a process of its own.
await container.exec(['plant-store', 'backup', join(VOLUME, 'copy.db'), '--database', FILE])
passed('makes a backup')
await stop('stops', container)

async function listPlants(url: string): Promise<string> {
  const response = await fetch(`${url}/plants`, { headers: { authorization: `Bearer ${TOKEN}` } })
  return response.text()
}
