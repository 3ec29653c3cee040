import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { PostgresStore } from '../../src/stores/postgres/postgres-store.ts'
import { PostgresServer } from '../../tools/postgres/postgres-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'plant-store-access-'))
t.teardown(() => rmSync(folder, { recursive: true }))
chmodSync(folder, 0o755)
const access = join(folder, 'pg_hba.conf')
writeFileSync(
  access,
  'host all plants 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n',
)

const server = await PostgresServer.make(t)
await server.start({ hba_file: access })
await server.query(`CREATE ROLE gardener LOGIN PASSWORD 'correct'`)
await server.query('CREATE ROLE guest LOGIN')
await server.query('CREATE DATABASE plants OWNER gardener')

for (const [why, url, reason] of [
  [
    'a wrong password',
    `postgres://gardener:mistaken@${server.host}/plants`,
    'password authentication failed for user "gardener"',
  ],
  [
    'an unknown user',
    `postgres://nobody:mistaken@${server.host}/plants`,
    'password authentication failed for user "nobody"',
  ],
  [
    'an unknown database',
    `postgres://gardener:correct@${server.host}/plantz`,
    'database "plantz" does not exist',
  ],
  [
    'a port on which nothing listens',
    'postgres://gardener:mistaken@127.0.0.1:1/plants',
    'ECONNREFUSED',
  ],
] as const) {
  t.test(`a failed start reports the reason but not the password: ${why}`, async (t) => {
    const error = await PostgresStore.open({ url, timeout: 60_000 }).catch((error) => error)
    t.equal(error.constructor.name, 'StoreError')
    const { username, host, pathname } = new URL(url)
    const shown = `postgres://${username}@${host}${pathname}`
    t.ok(error.message.startsWith(`cannot use the database ${shown}: `), error.message)
    t.match(error.message, reason)
    t.notMatch(error.message, /correct|mistaken|\n/)
  })
}
