/** Encryption and verification of connections, tested with a server that has its own certificate. */
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { TLSSocket } from 'node:tls'
import t, { type Test } from 'tap'
import { Connections } from '../../../../src/stores/postgres/connection/connections.ts'
import { checkDatabase } from '../../../../src/stores/postgres/postgres-check.ts'
import { PostgresStore } from '../../../../src/stores/postgres/postgres-store.ts'
import { StoreError } from '../../../../src/stores/shared/store-error.ts'
import { PostgresServer } from '../../../../tools/postgres/postgres-server.ts'
import { issue } from '../../../helpers/network/certificates.ts'
import { run } from '../../../helpers/processes/command.ts'

/** An address of this machine that is not a loopback address. */
const REMOTE = '0.0.0.0'

const authority = issue({ name: 'authority' })
const pair = issue({ name: 'server', hosts: [REMOTE], issuer: authority })
const client = issue({ name: 'client', hosts: ['client'], issuer: authority })

const folder = t.testdir({
  'ca.pem': authority.cert,
  'other-ca.pem': issue({ name: 'another authority' }).cert,
  'client.pem': client.cert,
  'client.key': client.key,
  empty: {},
})
const fileOf = (name: string) => encodeURIComponent(join(folder, name))
const CA = `sslrootcert=${fileOf('ca.pem')}`
const OTHER_CA = `sslrootcert=${fileOf('other-ca.pem')}`
const CLIENT = `sslcert=${fileOf('client.pem')}&sslkey=${fileOf('client.key')}`

const timeout = 20_000

const server = await PostgresServer.make(t)
server.write('server.pem', pair.cert)
server.write('server.key', pair.key)
server.write('ca.pem', authority.cert)
await server.start({
  ssl: 'on',
  ssl_cert_file: 'server.pem',
  ssl_key_file: 'server.key',
  ssl_ca_file: 'ca.pem',
})

/** @param host the certificate is valid only for REMOTE */
function urlOf(parameters: readonly string[] = [], host = REMOTE, port = server.port): string {
  return `postgres://plants:s3cret@${host}:${port}/postgres?${parameters.join('&')}`
}

interface Session {
  readonly ssl: boolean
  readonly client_dn: string | null
}

function connectionsTo(t: Test, urls: readonly string[]): Connections {
  const connections = new Connections({ urls, timeout })
  t.teardown(() => connections.close())
  return connections
}

/** A connection as the server sees it. */
async function sessionOf(connections: Connections): Promise<Session | undefined> {
  const [session] = await connections.query<Session>(
    'SELECT ssl, client_dn FROM pg_stat_ssl WHERE pid = pg_backend_pid()',
  )
  return session
}

const accepted = [
  {
    what: 'an authority in a file',
    url: urlOf([CA]),
    session: { ssl: true, client_dn: null },
    says: `encrypted; server verified as ${REMOTE} against the certificate authorities in ${join(folder, 'ca.pem')}`,
  },
  {
    what: 'sslmode=verify-full',
    url: urlOf(['sslmode=verify-full', CA]),
    session: { ssl: true, client_dn: null },
    says: `encrypted; server verified as ${REMOTE} against `,
  },
  {
    what: 'sslmode=verify-ca and a certificate for another host',
    url: urlOf(['sslmode=verify-ca', CA], '127.0.0.1'),
    session: { ssl: true, client_dn: null },
    says: 'encrypted; server verified under any name against ',
  },
  {
    what: 'a client certificate',
    url: urlOf([CA, CLIENT]),
    session: { ssl: true, client_dn: '/CN=client' },
    says: `encrypted; server verified as ${REMOTE} against `,
  },
  {
    what: 'sslmode=disable',
    url: urlOf(['sslmode=disable']),
    session: { ssl: false, client_dn: null },
    says: 'not encrypted: sslmode=disable',
  },
  {
    what: 'a server on this machine',
    url: urlOf([], '127.0.0.1'),
    session: { ssl: false, client_dn: null },
    says: 'not encrypted: the server is on this machine',
  },
]
for (const { what, url, session, says } of accepted) {
  t.test(`the connection matches the settings and its description: ${what}`, async (t) => {
    const connections = connectionsTo(t, [url])
    t.strictSame(await sessionOf(connections), session)
    t.match(connections.encryption, says)
    await (await PostgresStore.open({ url, timeout })).close()
    const findings = await Array.fromAsync(checkDatabase({ url, timeout }))
    t.match(
      findings.find(({ subject }) => subject === 'connection'),
      { status: 'ok', message: says },
      'check reports it too',
    )
  })
}

const refused = [
  {
    what: 'an authority that the system does not trust',
    url: urlOf(),
    says: /^the store is failing: SELF_SIGNED_CERT_IN_CHAIN: /,
  },
  {
    what: 'another authority',
    url: urlOf([OTHER_CA]),
    says: /^the store is failing: SELF_SIGNED_CERT_IN_CHAIN: /,
  },
  {
    what: 'another authority, and sslmode=verify-ca',
    url: urlOf(['sslmode=verify-ca', OTHER_CA]),
    says: /^the store is failing: SELF_SIGNED_CERT_IN_CHAIN: /,
  },
  {
    what: 'the name of another host',
    url: urlOf([CA], '127.0.0.1'),
    says: /^the store is failing: ERR_TLS_CERT_ALTNAME_INVALID: .*127\.0\.0\.1 is not in the cert's list/,
  },
]
for (const { what, url, says } of refused) {
  t.test(`a server is rejected for ${what}`, async (t) => {
    await t.rejects(sessionOf(connectionsTo(t, [url])), { message: says })
    const line = /^cannot use the database postgres:\/\/plants@[^\n]*$/
    await t.rejects(PostgresStore.open({ url, timeout }), {
      constructor: StoreError,
      message: line,
    })
  })
}

t.test('each of several hosts is verified by its own name', async (t) => {
  const urls = ['127.0.0.1', REMOTE].map((host) => urlOf([CA], host))
  const connections = connectionsTo(t, urls)
  t.match(await sessionOf(connections), { ssl: true })
  t.match(connections.encryption, `server verified as ${REMOTE} against `)
})

const NOTHING = Buffer.alloc(0)

/** A server that records what it receives. It answers the request for TLS, and speaks TLS if it can. */
async function impostor(t: Test, answer: 'S' | 'N') {
  const { cert, key } = issue({ name: 'impostor', hosts: [REMOTE] })
  const received: Record<string, Buffer> = { plain: NOTHING, encrypted: NOTHING }
  const gone = Promise.withResolvers<void>()
  const receive = (how: string) => (chunk: Buffer) => {
    received[how] = Buffer.concat([received[how] ?? NOTHING, chunk])
  }
  const server = createServer((socket) => {
    socket.on('error', () => {}).on('close', () => gone.resolve())
    socket.once('data', (chunk: Buffer) => {
      receive('plain')(chunk)
      socket.write(answer)
      const secured = answer === 'S' && new TLSSocket(socket, { isServer: true, cert, key })
      if (secured) secured.on('data', receive('encrypted')).on('error', () => {})
      else socket.on('data', receive('plain'))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return { received, gone, port: (server.address() as AddressInfo).port }
}

/** SSLRequest, https://www.postgresql.org/docs/current/protocol-message-formats.html. */
const SSL_REQUEST = Buffer.from('0000000804d2162f', 'hex')

for (const { answer, says } of [
  {
    answer: 'N',
    says: /does not support SSL connections/,
  },
  { answer: 'S', says: /DEPTH_ZERO_SELF_SIGNED_CERT/ },
] as const) {
  t.test(`an impostor that answers ${answer} receives nothing`, async (t) => {
    const { received, gone, port } = await impostor(t, answer)
    const connections = connectionsTo(t, [urlOf([CA], REMOTE, port)])
    await t.rejects(sessionOf(connections), { message: says })
    await gone.promise
    t.strictSame(received, { plain: SSL_REQUEST, encrypted: NOTHING })
  })
}

t.test("the system's authorities are trusted, or else those of Node", async (t) => {
  const env = { PLANT_STORE_DATABASE: urlOf(), PGSSLROOTCERT: '' }
  const [ca, none] = [join(folder, 'ca.pem'), join(folder, 'empty')]
  const says = `encrypted; server verified as ${REMOTE} against the system's certificate authorities\n`
  for (const variables of [
    { SSL_CERT_FILE: ca, SSL_CERT_DIR: none },
    { SSL_CERT_FILE: '/dev/null', SSL_CERT_DIR: none, NODE_EXTRA_CA_CERTS: ca },
  ]) {
    const options = { env: { ...env, ...variables } }
    t.match(await run(t, ['token', 'list'], options), { code: 0, stderr: '' })
    t.match((await run(t, ['check'], options)).stdout, `connection: ${says}`)
  }
  const other = { ...env, SSL_CERT_FILE: join(folder, 'other-ca.pem'), SSL_CERT_DIR: none }
  t.match(await run(t, ['check'], { env: other }), { code: 1, stderr: /SELF_SIGNED_CERT_IN_CHAIN/ })
})
