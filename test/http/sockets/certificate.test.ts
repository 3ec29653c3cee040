/** Which certificates the service accepts, and how it reports the others. */
import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ConfigError, defaultConfig } from '../../../src/config/config.ts'
import { covers, loadCertificate } from '../../../src/http/sockets/certificate.ts'
import { daysFromNow, issue, writeFiles } from '../../helpers/network/certificates.ts'

const valid = issue({ name: 'plants', hosts: ['plants.example.com', '192.0.2.1'] })
const other = issue({ name: 'other', hosts: ['plants.example.com'] })
const expired = issue({ name: 'old', hosts: ['a'], from: daysFromNow(-9), to: daysFromNow(-1) })
const early = issue({ name: 'new', hosts: ['a'], from: daysFromNow(1), to: daysFromNow(9) })
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const cipher = { cipher: 'aes-256-cbc', passphrase: 'secret' }
const encrypted = privateKey.export({ type: 'pkcs8', format: 'pem', ...cipher }).toString()

const certificate = (message: string) => `cert.pem (--tls-certificate): ${message}`
const key = (message: string) => `key.pem (--tls-key): ${message}`
const noCertificate = certificate('expected a certificate in PEM (')
const noKey = key('expected a private key in PEM, without a passphrase (')
const notNow = certificate('expected a currently valid certificate; this one is valid from 20')

const unusable = [
  { what: 'a certificate that is not PEM', pair: { ...valid, cert: 'x' }, message: noCertificate },
  { what: 'an empty certificate', pair: { ...valid, cert: '' }, message: noCertificate },
  {
    what: "a truncated issuer's certificate",
    pair: { ...valid, cert: `${valid.cert}${other.cert.slice(0, 200)}` },
    message: noCertificate,
  },
  {
    what: 'swapped files',
    pair: { cert: valid.key, key: valid.cert },
    message: noCertificate,
  },
  { what: 'a key that is not PEM', pair: { ...valid, key: 'x' }, message: noKey },
  { what: 'a key with a passphrase', pair: { ...valid, key: encrypted }, message: noKey },
  {
    what: 'the key of another certificate',
    pair: { ...valid, key: other.key },
    message: key('expected the private key of the certificate in '),
  },
  { what: 'a certificate that has expired', pair: expired, message: notNow },
  { what: 'a certificate that is not valid yet', pair: early, message: notNow },
]

for (const { what, pair, message } of unusable) {
  t.test(`${what} is rejected with a message that names the file`, async (t) => {
    const config = { ...defaultConfig(), ...writeFiles(t.testdir(), pair) }
    const error = await loadCertificate(config).catch((error) => error)
    t.type(error, ConfigError)
    t.match(error.message, message)
    t.notMatch(error.message, '\n')
  })
}

t.test('an unreadable file is rejected with the reason', async (t) => {
  const config = { ...defaultConfig(), ...writeFiles(t.testdir(), valid) }
  const missing = join(t.testdirName, 'missing.pem')
  await t.rejects(loadCertificate({ ...config, tlsCertificate: missing }), {
    message: `cannot read ${missing} (--tls-certificate): no such file or directory`,
  })
  await t.rejects(loadCertificate({ ...config, tlsKey: t.testdirName }), {
    message: `cannot read ${t.testdirName} (--tls-key): illegal operation on a directory`,
  })
})

t.test('a key that every user can read causes a warning', async (t) => {
  const config = { ...defaultConfig(), ...writeFiles(t.testdir(), valid) }
  for (const [mode, warning] of [
    [0o600, undefined],
    [0o640, undefined],
    [0o604, `every user of this machine can read ${config.tlsKey} (--tls-key)`],
  ] as const) {
    chmodSync(config.tlsKey, mode)
    t.equal((await loadCertificate(config))?.warning, warning, mode.toString(8))
  }
})

t.test('a certificate covers the names and addresses it contains', async (t) => {
  const x509 = new X509Certificate(valid.cert)
  t.ok(covers(x509, 'plants.example.com'))
  t.ok(covers(x509, '192.0.2.1'))
  t.notOk(covers(x509, 'localhost'))
  t.notOk(covers(x509, '127.0.0.1'))
})
