/** Settings from a connection string and the environment; encryption.system.ts tests them with a server. */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { parseConnectionString } from '../../../../src/stores/postgres/connection/connection-string.ts'
import { toServers } from '../../../../src/stores/postgres/connection/encryption.ts'
import { StoreError } from '../../../../src/stores/shared/store-error.ts'
import { issue } from '../../../helpers/network/certificates.ts'

const { cert } = issue({ name: 'authority' })
const folder = t.testdir({ 'ca.pem': cert, 'nothing.pem': 'nothing' })
const fileOf = (name: string) => encodeURIComponent(join(folder, name))
const CA = `sslrootcert=${fileOf('ca.pem')}`

/** How the connection to each host is encrypted, with only these environment variables. */
function encryptionOf(t: Test, url: string, variables: NodeJS.ProcessEnv = {}): string[] {
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('PG'))
  t.intercept(process, 'env', { value: { ...Object.fromEntries(others), ...variables } })
  return toServers(parseConnectionString(url).urls).map(({ encryption }) => encryption)
}

for (const host of [
  'localhost',
  'LOCALHOST',
  '127.0.0.1',
  '127.9.9.9',
  '[::1]',
  '[::ffff:127.0.0.1]',
]) {
  t.test(`${host} counts as this machine`, async (t) => {
    t.match(encryptionOf(t, `postgres://${host}/plants`), ['not encrypted: the server is on this'])
  })
}

for (const host of ['db', 'localhost.example.com', '10.0.0.1', '0.0.0.0', '[::2]', '128.0.0.1']) {
  t.test(`${host} counts as another machine`, async (t) => {
    const name = host.replace(/[[\]]/g, '')
    const says = `encrypted; server verified as ${name} against the system's certificate authorities`
    t.strictSame(encryptionOf(t, `postgres://${host}/plants`), [says])
  })
}

t.test('the host is the one that the driver connects to', async (t) => {
  t.match(encryptionOf(t, 'postgres://localhost/plants?host=db'), [
    'encrypted; server verified as db against',
  ])
  t.match(encryptionOf(t, 'postgres:///plants', { PGHOST: 'db' }), [
    'encrypted; server verified as db against',
  ])
  t.match(encryptionOf(t, 'postgres:///plants'), ['not encrypted: the server is on this machine'])
})

t.test('a Unix socket is never encrypted', async (t) => {
  for (const url of ['postgres:///plants?host=/run', 'postgres://%2Frun/plants?sslmode=require']) {
    t.match(encryptionOf(t, url), ['not encrypted: the server is reached through a Unix socket'])
  }
})

t.test('only connections to hosts on other machines are encrypted', async (t) => {
  t.match(encryptionOf(t, 'postgres://127.0.0.1,db1,db2:5433/plants'), [
    'not encrypted: the server is on this machine',
    'encrypted; server verified as db1 against',
    'encrypted; server verified as db2 against',
  ])
})

t.test('a variable applies if the connection string has no such parameter', async (t) => {
  const url = 'postgres://db/plants'
  const disable = { PGSSLMODE: 'disable' }
  t.same(encryptionOf(t, url, disable), ['not encrypted: sslmode=disable'])
  t.match(encryptionOf(t, `${url}?sslmode=verify-full`, disable), ['encrypted; '])
  t.match(encryptionOf(t, `${url}?sslmode=`, disable), ['not encrypted: sslmode=disable'])
  const ca = { PGSSLROOTCERT: join(folder, 'ca.pem') }
  t.match(encryptionOf(t, url, ca), [/authorities in .*ca\.pem$/])
  t.match(encryptionOf(t, `${url}?sslrootcert=system`, ca), [/system's certificate authorities$/])
  t.match(encryptionOf(t, url, { PGSSLMODE: '' }), ['encrypted; '])
})

t.test('the last of two parameters with the same name applies, as in libpq', async (t) => {
  const twice = 'postgres://db/plants?sslmode=require&sslmode=verify-full'
  t.match(encryptionOf(t, twice), ['encrypted; '])
})

t.test('the driver gets the other parameters, but none about TLS', async (t) => {
  const [server] = toServers(['postgres://db/plants?options=-c%20a%3Db%3Fc&sslmode=disable'])
  t.strictSame(server?.options, {
    connectionString: 'postgres://db/plants?options=-c+a%3Db%3Fc',
    ssl: false,
  })
  const [other] = toServers([`postgres://db/plants?sslmode=verify-full&${CA}`])
  t.equal(other?.options.connectionString, 'postgres://db/plants')
  t.match(other?.options.ssl, { rejectUnauthorized: true })
})

const OF_ANYBODY = /^sslmode=[\w-]+ is not supported: use verify-full .*, or disable/

const refused = [
  ...['require', 'prefer', 'allow', 'no-verify'].map((mode) => ({
    parameters: `sslmode=${mode}`,
    says: OF_ANYBODY,
  })),
  { parameters: 'sslmode=verify_full', says: OF_ANYBODY },
  {
    parameters: 'sslmode=verify-ca',
    says: /^sslmode=verify-ca needs sslrootcert to name a file, /,
  },
  { parameters: 'sslmode=verify-ca&sslrootcert=system', says: /^sslmode=verify-ca needs / },
  {
    parameters: 'ssl=true',
    says: /^unknown TLS parameter ssl in the database URL: expected one of sslmode, /,
  },
  { parameters: 'SSLMODE=disable', says: /^unknown TLS parameter SSLMODE in the database URL: / },
  { parameters: 'sslcrl=revoked.pem', says: /^unknown TLS parameter sslcrl in the database URL: / },
  {
    parameters: `sslcert=${fileOf('ca.pem')}&sslkey=${fileOf('nothing.pem')}`,
    says: /^cannot load the certificates in sslrootcert, sslcert or sslkey: error:/,
  },
  {
    parameters: 'sslrootcert=nowhere.pem',
    says: /^cannot load the certificates in sslrootcert, .*: ENOENT.*nowhere\.pem/,
  },
]
for (const { parameters, says } of refused) {
  t.test(`rejects ${parameters.replaceAll(encodeURIComponent(folder), '')}`, async (t) => {
    for (const host of ['db', '127.0.0.1']) {
      const url = `postgres://${host}/plants?${parameters}`
      t.throws(() => encryptionOf(t, url), { constructor: StoreError, message: says })
    }
  })
}

t.test('a mode from the environment is verified, too', async (t) => {
  t.throws(() => encryptionOf(t, 'postgres://db/plants', { PGSSLMODE: 'require' }), {
    message: /^sslmode=require is not supported: /,
  })
})
