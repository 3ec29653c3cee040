/** The commands on a PostgreSQL server. */

import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { TokenStore } from '../../../service/token-store.ts'
import { AccessTokens } from '../../../src/auth/access-tokens.ts'
import { backup } from '../../../src/commands/backup/backup.ts'
import { StoreError } from '../../../src/stores/shared/store-error.ts'
import { createIn } from '../../helpers/plants/single-changes.ts'
import { Command, run } from '../../helpers/processes/command.ts'
import { runHere } from '../../helpers/processes/command-here.ts'
import { createPlant } from '../../helpers/service/client.ts'
import { sharedPostgres } from '../../helpers/service/shared-postgres.ts'
import { otherVersion } from '../../stores/postgres/databases.ts'
import { useStore } from '../use-store.ts'

const { server, emptyDatabase } = await sharedPostgres()

/** Adds a password, which must never be printed. The server does not ask for it. */
const withSecret = (url: string) => url.replace('@', ':s3cret@')

/** The warning about a password on the command line. */
const WARNING =
  'plant-store: other users can read the password in --database; set PLANT_STORE_DATABASE or use ~/.pgpass instead\n'

t.test('a command that needs a database says how to create it', async (t) => {
  const url = await emptyDatabase()
  const stderr = `plant-store: cannot use the database ${url}: it is empty; use --create to create it\n`
  const missing = await runHere(['token', 'create', '--name', 'x', '--database', url])
  t.strictSame(missing, { code: 1, stdout: '', stderr })
})

t.test(
  'the service stores plants and tokens on the server, and nothing in its folder',
  async (t) => {
    const cwd = t.testdir()
    const url = await emptyDatabase()
    const database = withSecret(url)
    const token = (...args: string[]) => runHere(['token', ...args, '--database', database])
    const service = new Command(t, ['--port', '0', '--log-level=trace'], {
      cwd,
      env: { PLANT_STORE_DATABASE: database },
    })
    const address = await service.listening()
    t.match(service.stdout, `database  ${url}\n`)
    t.match(
      service.stdout,
      `token     create one with plant-store token create --name mine --scope read,write --database '${url}'\n`,
    )

    const { stdout } = await token('create', '--name', 'ci', '--scope', 'read,write')
    const secret = stdout.trim()
    t.equal((await createPlant(address, secret, { id: 4, name: 'Abies' })).status, 200)
    t.same(await useStore(url, (store) => store.get(4n)), { id: 4n, name: 'Abies' })
    t.strictSame(await token('revoke', 'ci'), {
      code: 0,
      stdout: `revoked ci in ${url}\n`,
      stderr: WARNING,
    })
    t.equal((await createPlant(address, secret, { id: 4, name: 'Abies' })).status, 401)

    service.process.kill('SIGTERM')
    const { code, stdout: said, stderr } = await service.finished()
    t.equal(code, 0)
    t.notMatch(said + stderr, 's3cret')
    t.same(readdirSync(cwd), [])
  },
)

t.test('the service does not start on a server that is not PostgreSQL', async (t) => {
  const database = await emptyDatabase()
  const name = new URL(database).pathname.slice(1)
  for (const statement of otherVersion(name, 'Novel 1.0')) await server.query(statement, name)
  const stderr = `plant-store: cannot use the database ${database}: the server is Novel 1.0, but only PostgreSQL 13 or later is supported\n`
  const started = await runHere(['--port', '0', '--database', database])
  t.strictSame(started, { code: 1, stdout: '', stderr })
})

t.test('a check prints one line per finding, and an export the plants', async (t) => {
  const url = await emptyDatabase()
  const empty = { code: 2, stdout: 'FAIL  kind: it is empty\n', stderr: '' }
  t.strictSame(await runHere(['check', '--database', url]), empty)
  await useStore(url, (store) => createIn(store, { id: 1n, name: 'x' }))
  const { code, stdout, stderr } = await run(t, ['check', '--database', withSecret(url)])
  t.strictSame({ code, stderr }, { code: 0, stderr: WARNING })
  t.match(stdout, /^(ok {4}\w+: .+\n){6}ok {4}plants: 1\nok {4}changes: 1 kept\n$/)
  t.strictSame(await runHere(['export', '--database', url]), {
    code: 0,
    stdout: '{"id":1,"name":"x"}\n',
    stderr: `exported 1 plants from ${url} to standard output\n`,
  })
})

t.test('an unusable database causes a one-line error without secrets', async (t) => {
  const nowhere = server.url('nowhere')
  const refused = await runHere(['--port', '0', '--database', withSecret(nowhere)])
  const reason = `cannot use the database ${nowhere}: the store is failing: 3D000: database "nowhere" does not exist`
  t.strictSame(refused, { code: 1, stdout: '', stderr: `${WARNING}plant-store: ${reason}\n` })
  const malformed = await runHere(['export', '--database', 'postgres://me:s3cret@one:x/plants'])
  t.match(malformed, {
    code: 1,
    stdout: '',
    stderr: /^plant-store: invalid database URL: expected one such as/,
  })
  t.notMatch(malformed.stderr, 's3cret')
})

t.test('a password causes a warning only if other users can read it', async (t) => {
  const url = await emptyDatabase()
  const environment = await runHere(['check'], { PLANT_STORE_DATABASE: withSecret(url) })
  t.equal(environment.stderr, '')
  t.equal((await runHere(['check', '--database', url])).stderr, '')
  const parameter = `${url}?password=s3cret`
  t.equal((await runHere(['check', '--database', parameter])).stderr, WARNING)
})

t.test('a password of the other database of a copy causes a warning, too', async (t) => {
  const url = await emptyDatabase()
  await useStore(url, (store) =>
    new AccessTokens(new TokenStore(store)).issue({ name: 'used', scopes: ['read'] }),
  )
  const database = join(t.testdir(), 'copy.db')
  await useStore(database, async () => {})
  t.strictSame(await runHere(['token', 'copy', withSecret(url), '--database', database]), {
    code: 0,
    stdout: `copied used\ncopied 1 of 1 tokens to ${database}\n`,
    stderr: WARNING.replace('--database; set PLANT_STORE_DATABASE or', '<from>;'),
  })
})

t.test('required standbys are set, and a service with another number does not start', async (t) => {
  const database = await emptyDatabase()
  await useStore(database, async () => {})
  const require = (number: string) => runHere(['require-standbys', number, '--database', database])
  for (const number of ['0', '1']) {
    const stdout = `required standbys in ${database}: ${number}\n`
    t.strictSame(await require(number), { code: 0, stdout, stderr: '' })
  }
  const refused = await runHere(['--port=0', '--require-standbys=2', '--database', database])
  t.match(refused, { code: 1, stderr: /: it requires changes to be on 1 standby, but --require/ })
  const checked = await runHere(['check', '--database', database])
  t.equal(checked.code, 2)
  t.match(checked.stdout, /^FAIL {2}acknowledged: changes must be on 1 standby, but .* 0 \(.*\)$/m)
})

t.test('required standbys are refused for SQLite', async (t) => {
  const database = join(t.testdir(), 'plants.db')
  const stderr =
    'plant-store: --require-standbys needs a PostgreSQL server as --database: SQLite has no standbys, and ' +
    "acknowledges a change once it is on this machine's disk\n"
  const refused = { code: 1, stdout: '', stderr }
  t.strictSame(await runHere(['--port=0', '--require-standbys=0', '--database', database]), refused)
  t.strictSame(await runHere(['require-standbys', '1', '--database', database]), refused)
  t.notOk(existsSync(database))
})

t.test('a restore to a server is refused with a hint to use other tools', async (t) => {
  const refused = await runHere(['restore', join(t.testdir(), 'backup.db')], {
    PLANT_STORE_DATABASE: server.url(),
  })
  t.match(refused, { code: 1, stdout: '', stderr: /pg_restore, .* "plant-store mirror"\n$/ })
})

t.test('a backup of a server is refused with a hint to use its own tools', async (t) => {
  const file = join(t.testdir(), 'backup.db')
  const message =
    /^plant-store cannot back up a database on a server: use the server's own tools, such as pg_dump/
  await t.rejects(backup(file, server.url()), { constructor: StoreError, message })
  t.notOk(existsSync(file))
  const folder = join(t.testdir(), 'backups')
  const args = ['backup', '--every', '1h', folder]
  const repeated = await runHere(args, { PLANT_STORE_DATABASE: server.url() })
  t.match(repeated, { code: 1, stdout: '' })
  t.match(repeated.stderr, "use the server's own tools, such as pg_dump")
  t.notOk(existsSync(folder))
})
