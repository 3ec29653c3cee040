/** Certificates replaced while in use, in the ways that real tools replace them. */
import { once } from 'node:events'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { mock } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { daysFromNow, issue, writeFiles } from '../../helpers/network/certificates.ts'
import { connectTls } from '../../helpers/network/tls-client.ts'
import { startService } from '../../helpers/service/service.ts'

const authority = issue({ name: 'authority' })
const named = (name: string) => issue({ name, hosts: ['localhost'], issuer: authority })
const [first, second] = [named('first'), named('second')]

/** Parent of each test's folder. The folder that tap provides belongs to the service. */
const parent = join(t.testdir(), 'test-')

/** Fake timers: time passes only when a test advances it. */
mock.timers.enable({ apis: ['setInterval'] })
t.teardown(() => mock.timers.reset())

/** How often the service looks at the files. */
const A_WHILE_MS = 10_000

/** How many polls to allow before a test concludes that nothing happens. */
const LOOKS = 50

interface Files {
  readonly tlsCertificate: string
  readonly tlsKey: string
}

/** A service with the first certificate, by default in a folder of its own, and its log. */
async function start(t: Test, given?: Files, logsForAll = true) {
  const folder = mkdtempSync(parent)
  const files = given ?? writeFiles(folder, first)
  const stream = new PassThrough()
  const logger = { level: 'info', stream }
  const { port } = await startService(t, { config: files, logger, logsForAll })
  let log = ''
  stream.setEncoding('utf8').on('data', (chunk) => {
    log += chunk
  })
  return {
    folder,
    files,
    /** Advances time until a message is logged, and resolves to its line. */
    async logged(message: string): Promise<Record<string, unknown>> {
      for (;;) {
        const line = log.split('\n').find((line) => line.includes(message))
        if (line !== undefined) return JSON.parse(line)
        await pass()
      }
    },
    lines: (message: string) => log.split('\n').filter((line) => line.includes(message)).length,
    port,
    /** The name in the certificate that a client receives. */
    async served(): Promise<unknown> {
      const socket = await connectTls(port, authority.cert)
      const { subject } = socket.getPeerCertificate()
      socket.destroy()
      return subject.CN
    },
  }
}

async function pass(): Promise<void> {
  mock.timers.tick(A_WHILE_MS)
  await setImmediate()
}

const RELOADED = 'TLS certificate reloaded'
const KEPT = 'TLS certificate not reloaded'

t.test('files renamed into place are served, and their expiry is logged', async (t) => {
  const service = await start(t)
  const { folder, files } = service
  t.equal(await service.served(), 'first')
  mkdirSync(join(folder, 'new'))
  const fresh = writeFiles(join(folder, 'new'), second)
  renameSync(fresh.tlsCertificate, files.tlsCertificate)
  renameSync(fresh.tlsKey, files.tlsKey)
  const { expires } = await service.logged(RELOADED)
  t.ok(Math.abs(Date.parse(String(expires)) - daysFromNow(1).getTime()) < 600_000)
  t.equal(await service.served(), 'second')
  t.equal(service.lines(KEPT), 0)
})

t.test('files with the modification times of the previous ones are served', async (t) => {
  const folder = mkdtempSync(parent)
  const { tlsCertificate, tlsKey } = writeFiles(folder, first)
  for (const file of [tlsCertificate, tlsKey]) utimesSync(file, 1, 1)
  const service = await start(t, { tlsCertificate, tlsKey })
  writeFiles(folder, second)
  for (const file of [tlsCertificate, tlsKey]) utimesSync(file, 1, 1)
  await service.logged(RELOADED)
  t.equal(await service.served(), 'second')
})

for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
  t.test(`a session of ${maxVersion} ends when the certificate is replaced`, async (t) => {
    const service = await start(t)
    const connect = (session?: Buffer) =>
      connectTls(service.port, authority.cert, { maxVersion, ...(session && { session }) })
    const isResumed = async (session: Buffer) => {
      const socket = await connect(session)
      const isReused = socket.isSessionReused()
      socket.destroy()
      return isReused
    }
    const socket = await connect()
    // With TLS 1.2, it has already arrived.
    const session =
      maxVersion === 'TLSv1.2'
        ? (socket.getSession() as Buffer)
        : ((await once(socket.resume(), 'session'))[0] as Buffer)
    socket.destroy()
    t.equal(await isResumed(session), true)
    writeFiles(service.folder, second)
    await service.logged(RELOADED)
    t.equal(await isResumed(session), false)
  })
}

t.test('files that have not changed are not reloaded', async (t) => {
  const service = await start(t)
  for (let look = 0; look < LOOKS; look++) {
    await pass()
    // The service's own reads, which began before, end meanwhile.
    await readFile(service.files.tlsCertificate)
  }
  t.equal(service.lines('TLS'), 0)
  t.equal(await service.served(), 'first')
})

t.test('a thread that does not log for all reloads its certificate silently', async (t) => {
  const service = await start(t, undefined, false)
  writeFiles(service.folder, second)
  while ((await service.served()) !== 'second') await pass()
  t.equal(service.lines('TLS'), 0)
})

t.test('a folder replaced through a symbolic link is served, as in Kubernetes', async (t) => {
  const folder = mkdtempSync(parent)
  for (const [name, pair] of Object.entries({ one: first, two: second })) {
    mkdirSync(join(folder, name))
    writeFiles(join(folder, name), pair)
  }
  symlinkSync('one', join(folder, 'data'))
  for (const file of ['cert.pem', 'key.pem']) symlinkSync(`data/${file}`, join(folder, file))
  const files = { tlsCertificate: join(folder, 'cert.pem'), tlsKey: join(folder, 'key.pem') }
  const service = await start(t, files)
  t.equal(await service.served(), 'first')
  symlinkSync('two', join(folder, 'data.new'))
  renameSync(join(folder, 'data.new'), join(folder, 'data'))
  await service.logged(RELOADED)
  t.equal(await service.served(), 'second')
})

const broken: Record<string, (files: Files) => void> = {
  'a certificate of another key': ({ tlsCertificate }) =>
    writeFileSync(tlsCertificate, second.cert),
  'half a certificate': ({ tlsCertificate }) =>
    writeFileSync(tlsCertificate, second.cert.slice(0, 200)),
  'a certificate that has expired': ({ tlsCertificate }) => {
    const expired = issue({ name: 'expired', hosts: ['localhost'], to: daysFromNow(-0.5) })
    writeFiles(dirname(tlsCertificate), expired)
  },
  'no key': ({ tlsKey }) => rmSync(tlsKey),
}

for (const [what, breakFiles] of Object.entries(broken)) {
  t.test(`with ${what}, the previous pair stays in use until a valid one arrives`, async (t) => {
    const service = await start(t)
    const { folder, files } = service
    breakFiles(files)
    const { level, reason } = await service.logged(KEPT)
    t.equal(level, 40)
    t.match(reason, /(cert|key)\.pem/)
    for (let look = 0; look < LOOKS; look++) await pass()
    t.equal(service.lines(KEPT), 1, 'it is logged once')
    t.equal(await service.served(), 'first')
    writeFiles(folder, second)
    await service.logged(RELOADED)
    t.equal(await service.served(), 'second')
  })
}

t.test(
  'a key that every user can read causes a warning, at startup and after a reload',
  async (t) => {
    const folder = mkdtempSync(parent)
    const files = writeFiles(folder, first)
    chmodSync(files.tlsKey, 0o644)
    const service = await start(t, files)
    t.match(await service.logged('can read'), { level: 40 })
    writeFiles(folder, second)
    await service.logged(RELOADED)
    t.equal(service.lines('can read'), 2)
  },
)
